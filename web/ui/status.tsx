/** Status, trust and outcome: a glyph, a word and a colour, readable without the colour. */
import type { Card, Trust } from '../api/types.ts';
import { Icon, type IconName } from './icons.tsx';
import { OUTCOME, type Tone, trustLook } from './outcomes.ts';

export type { Tone } from './outcomes.ts';

const STATUS: Record<string, [Tone, IconName]> = {
  pending: ['quiet', 'waiting'],
  running: ['working', 'working'],
  complete: ['done', 'done'],
  blocked: ['needs', 'needs'],
  failed: ['failed', 'failed'],
  paused: ['paused', 'paused'],
  aborted: ['quiet', 'aborted'],
};

export function Status({ card }: { card: Pick<Card, 'status' | 'runner' | 'resume_at'> }) {
  const isLeft = (card.status === 'running' || card.status === 'pending') && card.runner === 'none';
  const [tone, icon] = isLeft ? (['failed', 'failed'] as const) : (STATUS[card.status] ?? ['quiet', 'quiet']);
  return (
    <Tag tone={tone} icon={icon}>
      {card.status}
      {isLeft && <span className="tag-more"> (no runner)</span>}
    </Tag>
  );
}

export function Outcome({ word }: { word: string }) {
  const [tone, icon] = OUTCOME[word] ?? (['quiet', 'quiet'] as const);
  return (
    <Tag tone={tone} icon={icon}>
      {word.replaceAll('_', ' ')}
    </Tag>
  );
}

/** `status`: of the session whose result it is, where that may be in between. */
export function TrustWord({ trust, status = 'complete' }: { trust: Trust | null; status?: string }) {
  if (trust === null) return null;
  const [tone, word] = trustLook(trust, status);
  return <span className={`trust tone-${tone}`}>{word}</span>;
}

export function Tag({ tone, icon, children }: { tone: Tone; icon: IconName; children: React.ReactNode }) {
  return (
    <span className={`tag tone-${tone}`}>
      <Icon name={icon} />
      <span>{children}</span>
    </span>
  );
}
