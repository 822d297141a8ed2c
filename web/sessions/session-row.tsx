/** One session in a list: what it is, how it stands, what it asks, what it costs. */
import { Link } from 'wouter';
import type { Card } from '../api/types.ts';
import { sessionAddress } from '../ui/address.ts';
import { clock, progress, spentShort, words } from '../ui/format.ts';
import { Status, TrustWord } from '../ui/status.tsx';
import { Ago } from '../ui/time.tsx';
import { nextStep } from './next-step.ts';

const KINDS: Record<string, string> = { beads: 'swarm', 'bead-plan': 'bead plan' };

export function SessionRow({ card }: { card: Card }) {
  const next = nextStep(card);
  const address = sessionAddress(card);
  return (
    <li className="session-row">
      <Status card={card} />
      <div className="session-what">
        <Link href={address} className="session-goal" data-row>
          {card.goal}
        </Link>
        <span className="session-detail">{detailOf(card)}</span>
      </div>
      <span className="session-where" title={card.project_path}>
        {card.project_name} · {KINDS[card.kind] ?? card.kind}
      </span>
      <span className="session-trust">
        <TrustWord trust={card.trust} status={card.status} />
      </span>
      <span className="figures session-count">{progress(card)}</span>
      <span className="figures session-cost">
        {spentShort(card)}
        {card.spent_usd > 0 && card.budget_usd !== null && <span className="dim">/{card.budget_usd}</span>}
      </span>
      <span className="figures session-age">
        <Ago at={card.now?.at ?? card.ended_at ?? card.started_at ?? card.created_at} />
      </span>
      <span className="session-next">
        {next && (
          <Link href={`${address}${next.hash}`} className="button">
            {next.label}
          </Link>
        )}
      </span>
    </li>
  );
}

function detailOf(card: Card): string {
  if (card.status === 'running' && card.resume_at) return `waits until ${clock(card.resume_at)}`;
  if (card.now) return card.now.activity;
  if (card.blocked_reason) return card.blocked_reason;
  if (card.stop_reason && card.stop_reason !== 'completed') return words(card.stop_reason);
  return card.branch_name;
}
