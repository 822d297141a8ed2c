/** A process that takes the measuring slot so many times, and notes when it has it: `node slot-holder.ts PATH LOG TIMES HOLD_MS`. */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMeasuringSlot } from '../../src/engine/measuring-slot.ts';

const [path = '', log = '', times = '1', holdMs = '0'] = process.argv.slice(2);
const slot = createMeasuringSlot(path);
const { signal } = new AbortController();
for (let turn = 0; turn < Number(times); turn++) {
  await slot.hold(async () => {
    appendFileSync(log, `begin ${process.pid}\n`);
    await sleep(Number(holdMs));
    appendFileSync(log, `end ${process.pid}\n`);
  }, signal);
}
