/** The words after `--` of `pulse schedule add`: a command that starts a session, read now, so that it is known to be right. */
import { PulseError } from '../domain/errors.ts';
import { readEpic } from '../loops/beads/cli/read-epic.ts';
import * as swarm from '../loops/beads/operations/swarm-definitions.ts';
import { readGoal } from '../loops/goal/cli/read-goal.ts';
import { start } from '../loops/goal/operations/definitions.ts';
import * as research from '../loops/research/operations/definitions.ts';
import * as workflow from '../loops/workflow/operations/definitions.ts';
import type { CommandContext } from './command-spec.ts';
import { COMMANDS } from './commands.ts';
import { readInput } from './operation-command.ts';
import { parseCommand } from './parser.ts';
import { readYamlFile } from './read-yaml.ts';

export interface PlannedStart {
  operation: string;
  input: Record<string, unknown>;
}

/** Throws `usage` for what cannot be planned. A plan or a research file is read now. */
export async function readPlannedStart(
  context: CommandContext,
  words: readonly string[],
): Promise<PlannedStart> {
  const { command, input } = parseCommand(words, COMMANDS);
  const { cwd } = context;
  const inner = { ...context, input };
  if (command.name === 'start') {
    return { operation: start.name, input: await readInput(start, inner, await readGoal(inner)) };
  }
  const action = command.arguments?.some(({ name }) => name === 'ACTION')
    ? input.argument('ACTION')
    : undefined;
  const target = action === undefined ? undefined : input.argument('TARGET');
  switch (`${command.name} ${action}`) {
    case 'workflow start': {
      const plan = await readYamlFile(target!, { cwd, what: 'The plan' });
      return { operation: workflow.start.name, input: await readInput(workflow.start, inner, { plan }) };
    }
    case 'workflow plan':
      return {
        operation: workflow.start.name,
        input: await readInput(workflow.start, inner, { goal: target! }),
      };
    case 'research start': {
      const content = await readYamlFile(target!, { cwd, what: 'The research file' });
      return { operation: research.start.name, input: await readInput(research.start, inner, { content }) };
    }
    case 'swarm start':
      return {
        operation: swarm.start.name,
        input: await readInput(swarm.start, inner, { epic: readEpic(input) }),
      };
    default:
      throw new PulseError('usage', `pulse ${words.join(' ')} starts no session.`, {
        hint: 'Plan one of: start, workflow start, workflow plan, research start, swarm start.',
      });
  }
}
