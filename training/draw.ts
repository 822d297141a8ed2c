/**
 * `node training/draw.ts EXTRACTED SEED`: draws the packages that are held out and those for development, and writes
 * `packages.tsv`. Done once, before the first training.
 */
import { writeFileSync } from 'node:fs';
import { digest, type Listed, readExtracted, writeList } from './packages.ts';

const [folder = '', seed = ''] = process.argv.slice(2);
/** Of each language. */
const HELD_OUT = 3;
const DEVELOP = 2;
/** Enough questions to say something, among enough chunks to be hard, and not so many that one package is the figure. */
const MIN_QUESTIONS = 60;
const MIN_CHUNKS = 250;
const MAX_CHUNKS = 4000;

const all: (Listed & { isCandidate: boolean })[] = [];
for (const { about, language, chunks } of readExtracted(folder)) {
  const questions = chunks.reduce((sum, chunk) => sum + chunk.questions.length, 0);
  const isCandidate =
    questions >= MIN_QUESTIONS && chunks.length >= MIN_CHUNKS && chunks.length <= MAX_CHUNKS;
  all.push({ ...about, language, role: 'learn', isCandidate });
}
/** Of each project that is not learnt from, the package that was drawn. */
const drawn = new Map<string, Listed>();
for (const language of [...new Set(all.map((each) => each.language))].sort()) {
  const candidates = all
    .filter((each) => each.language === language && each.isCandidate)
    .sort((a, b) => (digest(`${seed} ${a.name}`) < digest(`${seed} ${b.name}`) ? -1 : 1));
  let taken = 0;
  for (const candidate of candidates) {
    if (taken === HELD_OUT + DEVELOP) break;
    if (drawn.has(candidate.project)) continue;
    drawn.set(candidate.project, candidate);
    candidate.role = taken++ < HELD_OUT ? 'held-out' : 'develop';
  }
}
for (const each of all) if (each.role === 'learn' && drawn.has(each.project)) each.role = 'apart';
writeFileSync(new URL('packages.tsv', import.meta.url), writeList(all));
process.stdout.write(`Seed ${seed}: ${all.length} packages\n`);
for (const { role, language, name, version } of all)
  if (role === 'held-out' || role === 'develop')
    process.stdout.write(`${role}\t${language}\t${name} ${version}\n`);
