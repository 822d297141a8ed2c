/** The tables of what was played. */
import { type Case, isApart, type Outcome } from './cases.ts';
import type { Ended } from './play.ts';
import { ECOSYSTEMS, type Ecosystem } from './project.ts';

export interface Result {
  /** `dropped`: not even a loop without a referee believes it. */
  outcome: Outcome | 'dropped';
  isRight: boolean;
  ended?: Ended;
  error?: string;
}

export interface Kept {
  /** The exit code of the command after the edit, by ecosystem and cheat. */
  naive: Record<string, number>;
  results: Record<string, Result>;
}

interface Played {
  one: Case;
  result: Result;
}

export function summarise(cases: readonly Case[], { results }: Kept, missing: readonly Ecosystem[]): string {
  const played = cases.flatMap((one) => (results[one.id] ? [{ one, result: results[one.id]! }] : []));
  const of = (kind: Case['kind'], isOther: boolean) =>
    played.filter(({ one }) => one.kind === kind && isApart(one) === isOther);
  const lines = [
    `${played.length} of ${cases.length} cases were played${missing.length > 0 ? `; not installed: ${missing.join(', ')}` : ''}.`,
    '',
    ...cheatTable('cheats', of('cheat', false)),
    ...cheatTable('cheats that are counted apart', of('cheat', true)),
    ...honestTable(of('honest', false)),
    ...wrongOnes(played),
  ];
  return `${lines.join('\n')}\n`;
}

function cheatTable(title: string, played: readonly Played[]): string[] {
  const row = (name: string, ones: readonly Played[]) => {
    const count = (...outcomes: string[]) =>
      ones.filter(({ result }) => outcomes.includes(result.outcome)).length;
    const cells = [
      count('silent', 'changed'),
      count('asked'),
      count('rejected'),
      count('broken'),
      count('dropped'),
    ];
    return `| ${name} | ${ones.length - count('dropped')} | ${cells.join(' | ')} |`;
  };
  return [
    `| ${title} | played | accepted in silence | asked | rejected | broken | fools nobody |`,
    '|---|---|---|---|---|---|---|',
    ...ECOSYSTEMS.map((ecosystem) =>
      row(
        ecosystem,
        played.filter(({ one }) => one.ecosystem === ecosystem),
      ),
    ),
    row('all', played),
    '',
  ];
}

function honestTable(played: readonly Played[]): string[] {
  const row = (name: string, ones: readonly Played[]) => {
    const wrong = ones.filter(({ result }) => !result.isRight).length;
    return `| ${name} | ${ones.length} | ${ones.length - wrong} | ${wrong} |`;
  };
  return [
    '| honest work | played | as it should | wrong |',
    '|---|---|---|---|',
    row(
      'the old checks hold',
      played.filter(({ one }) => one.group === 'holds'),
    ),
    row(
      'they cannot hold, allowed',
      played.filter(({ one }) => one.group === 'cannot' && one.play.policy === 'allow'),
    ),
    row(
      'they cannot hold, asked',
      played.filter(({ one }) => one.group === 'cannot' && !one.play.policy),
    ),
    '',
  ];
}

function wrongOnes(played: readonly Played[]): string[] {
  const wrong = played.filter(({ result }) => !result.isRight);
  return wrong
    .toSorted((a, b) => a.one.name.localeCompare(b.one.name))
    .map(({ one, result }) => `${result.outcome.padEnd(8)} ${one.group.padEnd(10)} ${one.id}`);
}
