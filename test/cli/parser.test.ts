import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { asksForJson, parseCommand } from '../../src/cli/parser.ts';
import { PulseError } from '../../src/domain/errors.ts';

const parse = (...argv: string[]) => parseCommand(argv, COMMANDS);

function refusal(...argv: string[]): PulseError {
  try {
    parse(...argv);
  } catch (error) {
    if (error instanceof PulseError) return error;
    throw error;
  }
  throw new Error(`${argv.join(' ')} was accepted`);
}

describe('the parser', () => {
  it('reads values after a space and after an equals sign, before and after the argument', () => {
    const { command, input } = parse('start', '--agent=demo', 'Do it', '--max-iterations', '3', '--json');
    expect(command.name).toBe('start');
    expect(input.argument('GOAL')).toBe('Do it');
    expect(input.text('agent')).toBe('demo');
    expect(input.number('max-iterations')).toBe(3);
    expect(input.has('json')).toBe(true);
    expect(input.has('detach')).toBe(false);
  });

  it('collects repeated options in order', () => {
    const { input } = parse('start', 'x', '--verify', 'npm test', '--verify=make lint');
    expect(input.texts('verify')).toEqual(['npm test', 'make lint']);
    expect(parse('start', 'x').input.texts('verify')).toBeUndefined();
  });

  it('takes everything after -- as arguments', () => {
    expect(parse('start', '--', '--weird goal').input.argument('GOAL')).toBe('--weird goal');
  });

  it('takes an option-like value as the value', () => {
    expect(parse('start', 'x', '--command', '--version').input.text('command')).toBe('--version');
  });

  it('reads durations as milliseconds and `none` as no limit', () => {
    const { input } = parse('start', 'x', '--time-limit', '1h30m', '--budget-usd', 'none');
    expect(input.number('time-limit')).toBe(5_400_000);
    expect(input.usd('budget-usd')).toBeNull();
    expect(parse('start', 'x', '--budget-usd', '2.50').input.usd('budget-usd')).toBe(2.5);
  });

  it('asks for nothing else when --help is there', () => {
    expect(parse('start', '--help').isHelp).toBe(true);
    expect(parse('resume', '-h').isHelp).toBe(true);
  });

  it('knows whether JSON was asked for even where the line is wrong', () => {
    expect(asksForJson(['start', '--nope', '--json'])).toBe(true);
    expect(asksForJson(['start', '--', '--json'])).toBe(false);
  });

  it.each([
    [['strat'], 'There is no command "strat".', 'pulse start'],
    [['pause'], 'needs ID', 'pulse help pause'],
    [['start', 'x', '--max-iteration', '3'], 'no option --max-iteration', '--max-iterations'],
    [['start', 'x', '--max-iterations', 'many'], '--max-iterations must be a whole number', undefined],
    [['start', 'x', '--max-iterations', '0'], '--max-iterations', undefined],
    [['start', 'x', '--max-iterations', '-3'], '--max-iterations', undefined],
    [['start', 'x', '--max-iterations', '1e3'], '--max-iterations', undefined],
    [['start', 'x', '--max-iterations'], '--max-iterations needs a value', undefined],
    [['start', 'x', '--budget-usd', '-1'], '--budget-usd', undefined],
    [['start', 'x', '--budget-usd', 'NaN'], '--budget-usd', undefined],
    [['start', 'x', '--time-limit', '10'], '--time-limit must be a duration', undefined],
    [['start', 'x', '--context', 'all'], '--context must be one of none, prefetch, mcp, hybrid', undefined],
    [['start', 'x', '--detach=yes'], '--detach takes no value', undefined],
    [['start', 'x', '--agent', 'a', '--agent', 'b'], 'given twice', undefined],
    [['start', 'Fix', 'the', 'tests'], 'does not know what to do with "the"', 'pulse start "Fix the tests"'],
    [['list', '--status', 'done'], '--status must be one of', undefined],
    [['completion', 'csh'], 'SHELL must be one of', undefined],
    [['-x'], 'must come after a command', undefined],
  ])('refuses %j', (argv, message, hint) => {
    const error = refusal(...argv);
    expect(error.code).toBe('usage');
    expect(error.exitCode).toBe(2);
    expect(error.message).toContain(message);
    if (hint) expect(error.hint).toContain(hint);
  });

  it('throws nothing but PulseError, whatever it is given', () => {
    const words = COMMANDS.flatMap(({ name, options = [] }) => [
      name,
      ...options.map((option) => `--${option.name}`),
    ]);
    const word = fc.oneof(
      fc.constantFrom(...words, '--', '-', '--json', '='),
      fc.string(),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), (argv) => {
        try {
          parse(...argv);
        } catch (error) {
          expect(error).toBeInstanceOf(PulseError);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
