/** The signal parser. Its rules are in docs/protocol/signals.md. */
import type { RunReport, Signal, ToolSignal } from './attempt.ts';
import type { DeclaredChange } from './judgement.ts';
import { scanProse } from './prose.ts';
import { inferSignal } from './signal-inference.ts';
import { findTags, type ProtocolTag, type SignalTag } from './signal-tags.ts';

export interface AnchorHint {
  turnId: string;
  reason: string | null;
}

export interface ParsedSignal {
  signal: Signal;
  /** Only BLOCKED has one: the tag's own, the sentence it was inferred from, or what the conflict was. */
  reason: string | null;
  source: 'explicit' | 'inferred' | 'default';
  /**
   * `explicit:tag-alone`, `explicit:tag-trailing` (`:no-reason` appended for a bare BLOCKED), `signal_conflict`,
   * `inferred:<signal>:<phrase>` or `no_signal`.
   */
  rule: string;
  anchorHint: AnchorHint | null;
  /** The text of signal tags that stand where they do not count; at most 100, each cut at 500 characters. */
  mentions: string[];
  /** The different signals of a conflict, in the order they were seen. */
  conflict: string[];
  /** The checks that it says it has changed, and why. */
  checksChanged: DeclaredChange[];
}

/** A signal and where it came from; the tool's last call wins over the message. */
export type ReadSignal = Omit<ParsedSignal, 'source'> & { source: ParsedSignal['source'] | 'tool' };

/** Reads a final message. Never throws; linear in the message's length. */
export function parseSignal(message: string): ParsedSignal {
  const prose = scanProse(message);
  const tags = findTags(message, prose.kinds);
  const signals = tags.filter((tag) => tag.name === 'signal');
  const explicit = signals.filter((tag) => tag.placement !== 'mention');
  const seen = {
    checksChanged: tags.flatMap((tag) =>
      tag.name === 'checks_changed' && tag.placement !== 'mention' ? tag.changes : [],
    ),
    anchorHint: lastHint(tags),
    mentions: signals
      .filter((tag) => tag.placement === 'mention')
      .slice(0, 100)
      .map((tag) => tag.text.slice(0, 500)),
  };
  if (explicit.length > 0) return { ...seen, ...decide(explicit) };
  const inferred = inferSignal(message, prose);
  if (inferred) return { ...seen, ...inferred, source: 'inferred', conflict: [] };
  return { ...seen, signal: 'BLOCKED', reason: null, source: 'default', rule: 'no_signal', conflict: [] };
}

/** A run that did not succeed has no signal; a call of the tool `pulse_signal` wins over the message. */
export function readSignal(run: {
  message: string;
  toolSignal: ToolSignal | null;
  succeeded: boolean;
}): ReadSignal | null {
  if (!run.succeeded) return null;
  const parsed = parseSignal(run.message);
  if (!run.toolSignal) return parsed;
  const { signal, reason, checksChanged = [] } = run.toolSignal;
  return {
    ...parsed,
    checksChanged: [...checksChanged, ...parsed.checksChanged],
    signal,
    reason,
    source: 'tool',
    rule: 'tool:pulse_signal',
    conflict: [],
  };
}

/** The signal of a run that succeeded: its own, or what it said when it was asked for the one that was missing. */
export function signalOfRun({
  finalMessage: message,
  toolSignal,
  nudge,
}: Pick<RunReport, 'finalMessage' | 'toolSignal' | 'nudge'>): ReadSignal {
  const said = readSignal({ message, toolSignal, succeeded: true })!;
  if (said.source !== 'default' || !nudge) return said;
  const { finalMessage, toolSignal: called } = nudge;
  const asked = readSignal({ message: finalMessage, toolSignal: called, succeeded: true })!;
  return asked.source === 'default' ? said : { ...asked, anchorHint: asked.anchorHint ?? said.anchorHint };
}

function decide(
  explicit: SignalTag[],
): Pick<ParsedSignal, 'signal' | 'reason' | 'source' | 'rule' | 'conflict'> {
  const reason = explicit.findLast((tag) => tag.reason !== null)?.reason ?? null;
  const different = [...new Set(explicit.map((tag) => tag.signal))];
  if (different.length > 1) {
    const said = different.map((signal) => (signal === 'BLOCKED' && reason ? `BLOCKED: ${reason}` : signal));
    return {
      signal: 'BLOCKED',
      reason: `The message gives different signals: ${said.join(' / ')}`,
      source: 'explicit',
      rule: 'signal_conflict',
      conflict: different,
    };
  }
  const { signal, placement } = explicit.at(-1)!;
  const bare = signal === 'BLOCKED' && reason === null ? ':no-reason' : '';
  return { signal, reason, source: 'explicit', rule: `explicit:tag-${placement}${bare}`, conflict: [] };
}

function lastHint(tags: readonly ProtocolTag[]): AnchorHint | null {
  const hint = tags.findLast((tag) => tag.name === 'anchor_hint' && tag.placement !== 'mention');
  return hint?.name === 'anchor_hint' ? { turnId: hint.turnId, reason: hint.reason } : null;
}
