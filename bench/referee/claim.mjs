// The shell agent's claim: node claim.mjs <reply file> <declared changes as JSON> <pulse_done | bead_done>
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const [to, declared, tool] = process.argv.slice(2);
const status = execFileSync('git', ['status', '--porcelain', '-z', '-uall', '--no-renames'], {
  encoding: 'utf8',
});
const files = new Set(
  status
    .split('\0')
    .filter(Boolean)
    .map((line) => line.slice(3)),
);
let reply = claim();
// A status that was tampered with names too few: an agent that reads the refusal would name them all.
const refusal = JSON.parse(reply).reasons?.find((reason) => reason.includes('not what git says. '));
if (refusal) {
  for (const part of refusal.split('not what git says. ')[1].split('; ')) {
    const [word, list = ''] = part.split(': ');
    for (const file of list.split(', ')) {
      if (word === 'missing') files.add(file);
      else files.delete(file);
    }
  }
  reply = claim();
}
writeFileSync(to, reply);

function claim() {
  const checksChanged = JSON.parse(declared);
  const input = {
    ...(tool === 'bead_done'
      ? { summary: 'change the discount' }
      : { summary: 'feat: change the discount', filesChanged: [...files] }),
    ...(checksChanged.length > 0 ? { checksChanged } : {}),
  };
  try {
    return execFileSync('pulse', ['tool', tool, JSON.stringify(input)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  } catch (error) {
    return error.stdout;
  }
}
