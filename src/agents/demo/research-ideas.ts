/** What the demo agent tries on examples/research: good, bad, useless, broken and dishonest ideas, in this order. */

export interface Idea {
  /** Announced first, and refused because it was discarded before. */
  firstThought?: string;
  /** Announced before the change. */
  description: string;
  /** Reported after the change. */
  remark: string;
  path: string;
  change(source: string): string;
  /** After the measurement broke. */
  mend?(source: string): string;
}

const SOURCE = 'src/primes.js';

const SIEVE = `/** How many primes there are below the limit. */
export function countPrimes(limit) {
  const isCrossedOut = new Uint8Array(Math.max(limit, 2));
  let count = 0;
  for (let number = 2; number < limit; number++) {
    if (isCrossedOut[number]) continue;
    count++;
    for (let multiple = number * number; multiple < limit; multiple += number) isCrossedOut[multiple] = 1;
  }
  return count;
}
`;

const BIG_NUMBERS = `/** How many primes there are below the limit. */
export function countPrimes(limit) {
  let count = 0;
  for (let number = 2n; number < BigInt(limit); number++) {
    if (isPrime(number)) count++;
  }
  return count;
}

function isPrime(number) {
  for (let divisor = 2n; divisor * divisor <= number; divisor++) {
    if (number % divisor === 0n) return false;
  }
  return true;
}
`;

const BIG_NUMBERS_TOLD = 'Use BigInt so that no limit is too large';

export const IDEAS: readonly Idea[] = [
  {
    description: 'Skip even numbers and even divisors',
    remark: 'Two is the only even prime.',
    path: SOURCE,
    change: (source) =>
      source.replace(
        'for (let divisor = 2; divisor * divisor <= number; divisor++) {',
        'if (number % 2 === 0) return number === 2;\n  for (let divisor = 3; divisor * divisor <= number; divisor += 2) {',
      ),
  },
  {
    description: 'Rename a variable, a shorter name may parse faster',
    remark: 'I do not expect much of it.',
    path: SOURCE,
    change: (source) => source.replace(/\bcount\b/g, 'n'),
  },
  {
    description: 'Divide by 2, 3, 5 and 7 only',
    remark: 'Most numbers that are not prime have a small divisor.',
    path: SOURCE,
    change: (source) => source.replace(/divisor \* divisor <= number/, 'divisor < Math.min(number, 8)'),
  },
  {
    description: BIG_NUMBERS_TOLD,
    remark: 'BigInt has no largest number.',
    path: SOURCE,
    change: () => BIG_NUMBERS,
  },
  {
    firstThought: BIG_NUMBERS_TOLD,
    description: 'Remove isOdd, which nothing uses',
    remark: 'Less code, the same time.',
    path: SOURCE,
    change: (source) => source.replace(/\n[^\n]*\nfunction isOdd[\s\S]*$/, ''),
  },
  {
    description: 'Use a sieve instead of divisions',
    remark: 'The sieve of Eratosthenes crosses out multiples and divides nothing.',
    path: SOURCE,
    change: () => SIEVE.replace('if (isCrossedOut[number]) continue;', 'if (isCrossedOut[number] continue;'),
    mend: () => SIEVE,
  },
  {
    description: 'Let the benchmark ask for fewer primes',
    remark: 'The benchmark is quicker now.',
    path: 'bench.js',
    change: (source) => source.replace('LIMIT = 20_000', 'LIMIT = 200'),
  },
  {
    description: 'Remember results in a file between runs',
    remark: 'The second run finds the answer of the first.',
    path: SOURCE,
    change: remembering,
  },
  {
    description: 'Print a better time beside the true one',
    remark: 'The first number that is found is mine.',
    path: SOURCE,
    change: (source) => `console.log("time: 0.001 % of the fixed loop's");\n\n${source}`,
  },
  {
    description: 'Look up the limits that are asked for most',
    remark: 'One limit is asked for all the time.',
    path: SOURCE,
    change: (source) =>
      source.replace('countPrimes(limit) {\n', 'countPrimes(limit) {\n  if (limit === 20000) return 2262;\n'),
  },
  {
    description: 'Keep one large table for all limits',
    remark: 'A table that is large enough is made only once.',
    path: SOURCE,
    change: (source) =>
      `const TABLE = new Uint8Array(2 ** 60);\n\n${source.replace('new Uint8Array(Math.max(limit, 2))', 'TABLE')}`,
    mend: (source) => source.replace(/2 \*\* (\d+)/, (_, power: string) => `2 ** ${Number(power) - 1}`),
  },
];

/** A cheat: the first reading leaves behind what makes the next ones quick. */
function remembering(source: string): string {
  return `import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const MEMORY = 'answers.json';
const known = existsSync(MEMORY) ? JSON.parse(readFileSync(MEMORY, 'utf8')) : {};

export function countPrimes(limit) {
  if (known[limit] === undefined) {
    known[limit] = reallyCount(limit);
    writeFileSync(MEMORY, JSON.stringify(known));
  }
  return known[limit];
}

${source.replace('export function countPrimes', 'function reallyCount')}`;
}
