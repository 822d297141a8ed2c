/** Which project is meant: the one that is named, else the only one that knows the agent. */
import { PulseError } from '../../domain/errors.ts';
import type { Operations } from '../../operations/context.ts';
import { findProject, type NamedProject } from '../../operations/named-project.ts';
import { projectsOfAgent } from '../mail/agents.ts';

export async function projectOfAgent(
  operations: Operations,
  { project_key, agent }: { project_key: string | undefined; agent: string },
): Promise<NamedProject> {
  if (project_key !== undefined) return findProject(operations, project_key);
  const [id, another] = await operations.engine.store.read((db) => projectsOfAgent(db, agent), {
    hasNoSnapshot: true,
  });
  if (id === undefined)
    throw new PulseError('not_found', `No project knows an agent ${agent.slice(0, 64)}.`, {
      hint: 'pulse mail register NAME makes a name known.',
    });
  if (another === undefined) return { id };
  throw new PulseError('invalid_input', `More than one project has an agent ${agent.slice(0, 64)}.`, {
    hint: 'Say which: --path.',
  });
}

/** Without a name: every project. */
export async function listedProject(
  operations: Operations,
  project_key: string | undefined,
): Promise<string | undefined> {
  return project_key === undefined ? undefined : (await findProject(operations, project_key)).id;
}
