import { isSessionStatus } from '../../domain/status.ts';
import { openReader } from '../../reader.ts';
import type { CommandContext } from '../command-spec.ts';
import { sessionTable } from '../session-table.ts';

export async function run({ input, output, environment }: CommandContext): Promise<number> {
  await using pulse = await openReader({ environment, onWait: output.talk });
  const status = input.text('status');
  const limit = input.number('limit') ?? 20;
  const { sessions } = await pulse.list({ limit, ...(status && isSessionStatus(status) ? { status } : {}) });
  if (output.isJson) {
    output.json({ sessions });
    return 0;
  }
  if (sessions.length === 0) {
    output.talk(status ? `No session is ${status}.` : 'No sessions yet. pulse start "…" begins one.');
    return 0;
  }
  const rows = await Promise.all(
    sessions.map(async (session) => ({ session, runner: await pulse.runner(session.id) })),
  );
  const names = await pulse.shortNames(sessions.map(({ id }) => id));
  output.data(sessionTable(rows, output.stdout, { nowMs: Date.now(), names }));
  const orphans = rows.filter(({ session, runner }) => session.status === 'running' && runner === 'none');
  if (orphans.length > 0)
    output.talk(`hint: pulse resume ${orphans[0]!.session.id} adopts a session without a runner.`);
  return 0;
}
