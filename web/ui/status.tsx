/** Status, trust and outcome: a glyph, a word and a colour, readable without the colour. */
import type { Card, Trust } from '../api/types.ts';
import { Icon, type IconName } from './icons.tsx';
import { OUTCOME, type Tone } from './outcomes.ts';

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

const TRUST: Record<Trust, [Tone, string]> = {
  verified: ['done', 'verified'],
  verified_checks_changed: ['needs', 'verified, checks changed'],
  unverified: ['unverified', 'UNVERIFIED'],
  stale: ['needs', 'stale'],
  false: ['failed', 'FALSE'],
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

export function TrustWord({ trust }: { trust: Trust | null }) {
  if (trust === null) return null;
  const [tone, word] = TRUST[trust];
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
