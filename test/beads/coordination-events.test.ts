/** What a worker and its agent write to others and keep for themselves is told in the events of the worker's session. */
import { expect, it } from 'vitest';
import { onBothStores } from '../coordination/both-stores.ts';
import { beadDone, createSwarmScene, type SwarmScene } from './swarm-scene.ts';

const TOLD = /^(?:mail\.sent|reservation\.\w+)$/;

async function toldOf({ pulse }: SwarmScene, id: string): Promise<[string, Record<string, unknown>][]> {
  const { workers } = await pulse.swarm.show(id);
  const { events } = await pulse.export(workers[0]!.sessionId);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  return events.filter(({ type }) => TOLD.test(type)).map(({ type, data }) => [type, data]);
}

onBothStores((_, place) => {
  async function open(): Promise<SwarmScene> {
    const { url } = await place();
    return createSwarmScene({ environment: url ? { PULSE_DATABASE_URL: url } : {} });
  }

  it('each message, each grant, each refusal and each release is an event', async () => {
    await using scene = await open();
    await scene.bead('a');
    const project_key = scene.scratch.repository;
    await scene.pulse.mail.register({ project_key, name: 'Owl' });
    await scene.pulse.reservations.reserve({ project_key, agent_name: 'Owl', paths: ['lib/**'] });
    const tool = (name: string, input: object) =>
      `pulse tool ${name} '${JSON.stringify(input)}' > /dev/null || true`;
    const script = [
      tool('send_message', { to: ['Owl'], subject: 'Hello', body_md: 'from a' }),
      tool('file_reservation_paths', { paths: ['extra.txt'] }),
      // Again, which is only a renewal.
      tool('file_reservation_paths', { paths: ['extra.txt'] }),
      tool('file_reservation_paths', { paths: ['lib/x.ts'] }),
      tool('release_file_reservations', { paths: ['extra.txt'] }),
      tool('file_reservation_paths', { paths: ['late.txt'] }),
      tool('request_scope', { files: ['b.txt'], reason: 'it needs it' }),
      `echo x > a.txt; ${beadDone()}`,
    ].join('\n');
    const id = await scene.start(script, { workers: 1 });
    const { session } = await scene.drive(id);
    expect(session, session.blocked_reason ?? '').toMatchObject({ status: 'complete' });
    const mail = (subject: string, to = 'coordinator') => [
      'mail.sent',
      expect.objectContaining({ from: 'worker-1', to: [to], subject, id: expect.stringMatching(/^msg_/) }),
    ];
    const kept = (type: string, paths: string[]) => [
      `reservation.${type}`,
      expect.objectContaining({ agent: 'worker-1', paths }),
    ];
    expect(await toldOf(scene, id)).toEqual([
      mail('[ONLINE] worker-1 / worker-1'),
      kept('granted', ['a.txt']),
      mail('Hello', 'Owl'),
      kept('granted', ['extra.txt']),
      [
        'reservation.refused',
        {
          agent: 'worker-1',
          conflicts: [{ path: 'lib/x.ts', pattern: 'lib/**', holder: 'Owl', expires_at: expect.any(String) }],
        },
      ],
      mail('File conflict on a'),
      kept('released', ['extra.txt']),
      kept('granted', ['late.txt']),
      mail('Scope of a'),
      // Of the run, then of the bead.
      kept('released', ['late.txt']),
      kept('released', ['a.txt']),
      mail('Completed a'),
    ]);
  });

  it('so is the answer to a request for more files, which is all there or not at all', async () => {
    await using scene = await open();
    await scene.bead('a');
    const project_key = scene.scratch.repository;
    const wait = 'touch "$OUT/asked"; until [ -f "$OUT/widened" ]; do sleep 0.02; done';
    const id = await scene.start(`${wait}; echo x > a.txt; ${beadDone()}`, { workers: 1 });
    const running = scene.drive(id);
    await scene.appears('asked');
    // One file too many: nothing of it is written.
    const many = Array.from({ length: 200 }, (_, index) => `many/${index}.txt`);
    await expect(scene.pulse.bead.scope('a', { project_key, add: many })).rejects.toMatchObject({
      code: 'too_large',
    });
    expect((await scene.pulse.bead.show('a', { project_key })).bead.files).toEqual(['a.txt']);
    await scene.pulse.bead.scope('a', { project_key, add: ['b.txt'] });
    scene.scratch.file('widened', '');
    await running;
    const told = await toldOf(scene, id);
    expect(told.map(([type, { from, subject, paths }]) => [type, from ?? '', subject ?? paths])).toEqual([
      ['mail.sent', 'worker-1', '[ONLINE] worker-1 / worker-1'],
      ['reservation.granted', '', ['a.txt']],
      ['reservation.granted', '', ['b.txt']],
      ['mail.sent', 'coordinator', 'Scope of a: allowed'],
      ['reservation.released', '', ['a.txt', 'b.txt']],
      ['mail.sent', 'worker-1', 'Completed a'],
    ]);
  });

  it('so is what a worker leaves: a bead that it gives back, and a handoff', async () => {
    await using scene = await open();
    for (const id of ['a', 'b', 'c']) await scene.bead(id);
    const full = `[ $PULSE_UNIT = b ] && pulse tool report_usage '{"contextTokens":90,"contextWindow":100}' > /dev/null`;
    const ask = `[ $PULSE_UNIT = a ] && { pulse tool pulse_signal '{"signal":"BLOCKED","reason":"Which?"}'; exit 0; }`;
    const id = await scene.start(`${ask}; ${full}; echo x > $PULSE_UNIT.txt; ${beadDone()}`, { workers: 1 });
    await scene.drive(id);
    const told = await toldOf(scene, id);
    expect(told.map(([type, { subject, paths }]) => [type, subject ?? paths])).toEqual([
      ['mail.sent', '[ONLINE] worker-1 / worker-1'],
      ['reservation.granted', ['a.txt']],
      ['reservation.released', ['a.txt']],
      ['mail.sent', 'Blocked a'],
      ['reservation.granted', ['b.txt']],
      ['reservation.released', ['b.txt']],
      ['mail.sent', 'Completed b'],
      ['mail.sent', '[HANDOFF] worker-1 / worker-1'],
    ]);
  });
});
