/** What is offered at each place of a command line, for the completion of any shell. */
import { AGENT_NAMES } from '../agents/registry.ts';
import type { ArgumentSpec, CommandSpec, OptionSpec } from './command-spec.ts';
import { COMMON_OPTIONS, type Input } from './parser.ts';

/** Words, or what the shell or Pulse itself knows. `none`: a text of the person's own. */
export type Offer = NamedOffer | readonly string[];
/** `starts`: what can be planned, behind a `--`. */
export type NamedOffer =
  | 'files'
  | 'folders'
  | 'branches'
  | 'sessions'
  | 'workflows'
  | 'schedules'
  | 'starts'
  | 'none';

/** What a shell asks for the sessions there are: one a line, then what it is about. */
export const SESSIONS = 'pulse session-names 2>/dev/null';
/** Only those of workflows: no other session has a plan or a review. */
export const WORKFLOWS = 'pulse session-names workflow 2>/dev/null';
/** What can be planned. */
export const STARTS = 'start workflow research swarm';
/** What a shell asks for the planned starts there are. The id stands first, what belongs to it is indented. */
export const SCHEDULES = "pulse schedule list --all 2>/dev/null | awk '/^[^ ]/ {print $1}'";
export const BRANCHES = "git for-each-ref '--format=%(refname:short)' refs/heads 2>/dev/null";

/** With the agents there are as the values of `--agent`. */
export function allOptions(command: CommandSpec): OptionSpec[] {
  const options = [...(command.options ?? []), ...COMMON_OPTIONS];
  return options.map((option) => (option.name === 'agent' ? { ...option, choices: AGENT_NAMES } : option));
}

/** Behind an option; `null`: it is a switch. */
export function offerOfOption({ name, value, choices, placeholder }: OptionSpec): Offer | null {
  if (value === undefined) return null;
  if (choices) return choices;
  if (name === 'base' || name === 'branch') return 'branches';
  if (placeholder === 'DIR') return 'folders';
  return placeholder === 'FILE' || placeholder === 'F' ? 'files' : 'none';
}

export interface Place {
  /** The command, with its action where it has some. */
  words: readonly [string] | readonly [string, string];
  /** For the words that follow. */
  offer: Offer;
}

/** What follows a command, or each of its actions. */
export function placesOf(command: CommandSpec): Place[] {
  const { name, arguments: all = [] } = command;
  const [first, ...rest] = all;
  if (first?.name !== 'ACTION')
    return [{ words: [name], offer: merged(all.map((each) => offerOfArgument(each, { command: name }))) }];
  return (first.choices ?? []).map((action) => ({
    words: [name, action],
    offer: merged(rest.map((each) => offerOfArgument(each, { command: name, action }))),
  }));
}

/** Paths that are told by their action alone. */
const FILES = new Set([
  'workflow start',
  'research start',
  'bead import',
  'bead export',
  'reserve',
  'release',
]);

interface At {
  command: string;
  action?: string;
}

function offerOfArgument({ choices, isSession }: ArgumentSpec, { command, action }: At): Offer {
  if (choices) return choices;
  const place = action === undefined ? command : `${command} ${action}`;
  if (FILES.has(place)) return 'files';
  if (place === 'schedule remove') return 'schedules';
  if (place === 'schedule add') return 'starts';
  const input = { argument: (name: string) => (name === 'ACTION' ? action : undefined) } as Input;
  if (!isSession?.(input)) return 'none';
  return command === 'workflow' ? 'workflows' : 'sessions';
}

/** The first that is something; words only where there is nothing else. */
function merged(offers: readonly Offer[]): Offer {
  return offers.find((offer) => typeof offer === 'string' && offer !== 'none') ?? offers.flatMap(words);
}

function words(offer: Offer): readonly string[] {
  return typeof offer === 'string' ? [] : offer;
}
