import { describe, expect, it } from 'vitest';
import { parseSignal } from '../../src/domain/signals.ts';

const COMPLETE = [
  'All tasks are complete.',
  'all tasks are complete',
  'The implementation is complete.',
  'Implementation is complete!',
  'The implementation is now fully complete and tests pass.',
  'All tasks have been completed.',
  'All 12 tasks are done.',
  'All of the requested tasks are finished.',
  'All requirements have been met.',
  'Everything is done and the tests pass.',
  'Everything is implemented and tests pass.',
  'The goal has been achieved.',
  'The task is complete.',
  'There is nothing left to do.',
  '**All tasks are complete.**',
  'All tasks\nare complete.',
  '✅ All tasks complete!',
  '- [x] All tasks are complete',
  'The parser was not hard. All tasks are complete.',
  'If not handled it fails; all tasks are complete',
  'It was not easy, but all tasks are complete.',
  'No errors remain, all tasks are complete.',
  'Now that all tasks are complete, the branch can be merged.',
  'The implementation is complete. Next steps: deploy.',
  "I don't need your input. All tasks are complete.",
  'All tasks are complete.\n\n```\nnpm test\n```',
  'I did not touch `x`. The implementation is complete.',
];

const BLOCKED = [
  'I need your input on the schema.',
  'Please provide the API key.',
  'Could you please provide the API key?',
  'I cannot proceed.',
  'I can’t proceed without access.',
  'I am unable to proceed.',
  'I cannot proceed until you confirm.',
  'Until I get the key, I cannot proceed.',
  'Waiting for your decision.',
  'I need clarification about the API.',
  'I need the credentials from you.',
  "I'm blocked on the database password.",
  'Which option would you prefer?',
  'All tasks are complete. Please provide feedback.',
  'Created file a.ts. I need your approval to delete b.ts.',
  '<signal>BLOCKED: need your input',
  '- I need your **input**',
];

const CONTINUE = [
  '```\ncode\n```',
  'Here:\n\n~~~js\nx\n~~~',
  'I created file a.ts.',
  'Created a new test file for it.',
  'The next step is the lexer.',
  'Next steps:\n- lexer',
  'I will now write the tests.',
  "Next, I'll write the tests.",
  'Continuing with the parser.',
  'The remaining work is the lexer.',
  'I still need to write tests.',
  'The implementation is not complete; next step is the lexer.',
];

/** Nothing in these is a signal. */
const NOTHING = [
  '',
  'Hello.',
  '   \n\t\n',
  'Once all tasks are complete, I will stop.',
  'When the implementation is complete, tests will follow.',
  'The implementation is not complete.',
  "The implementation isn't complete.",
  'The implementation is incomplete.',
  'The implementation is completely broken.',
  'Implementation is complete? No.',
  'Is the implementation complete? The implementation is complete?',
  'Not all tasks are complete.',
  'I don’t think all tasks are complete.',
  "I don't think the parser, the lexer, and all tasks are complete.",
  'I am not sure that, as it stands, the implementation is complete.',
  'If the tests pass, all tasks are complete.',
  'All tasks are complete once you merge.',
  'All tasks are complete except the docs.',
  'The implementation is complete, but two tests fail.',
  'All tasks are complete if the tests pass.',
  'Until all tasks are complete I keep going.',
  'Before all tasks are complete, run it.',
  'As soon as all tasks are complete I report.',
  'After all tasks are complete we ship.',
  'Almost all tasks are complete.',
  'I think all tasks are complete.',
  'We must ensure all tasks are complete.',
  'I will check whether the implementation is complete.',
  'The first phase implementation is complete.',
  'All tasks are complete for phase 1.',
  'The README says "all tasks are complete".',
  'It prints “the implementation is complete” at the end.',
  '`All tasks are complete`',
  '> All tasks are complete.',
  '<!-- All tasks are complete. -->',
  '- [ ] All tasks are complete',
  '## Definition of done\n\n- All tasks are complete',
  'This is not true yet:\n\n- all tasks are complete',
  '~~All tasks are complete~~',
  '| all tasks are complete | no |',
  'all tasks `not` are complete',
  'implementation is <!-- not --> complete',
  "I don't need your input.",
  'I do not need your input.',
  'No need to wait, nobody should please provide anything.',
  'There is no need to please provide a key.',
  'If I need your input, I will ask.',
  'If the key is missing, please provide it.',
  'I never said I cannot proceed.',
  'The form shows "please provide a name".',
  'I no longer need your approval.',
  'There are no next steps.',
  'Next steps: none.',
  'No remaining work.',
  '<signal>all tasks are complete</signal>',
  `I would say <signal>BLOCKED: need your input</signal> there.`,
];

describe('without a tag the signal is inferred', () => {
  it.each(COMPLETE)('COMPLETE: %j', (message) => {
    expect(parseSignal(message)).toMatchObject({ signal: 'COMPLETE', source: 'inferred', reason: null });
  });

  it.each(BLOCKED)('BLOCKED: %j', (message) => {
    const parsed = parseSignal(message);
    expect(parsed).toMatchObject({ signal: 'BLOCKED', source: 'inferred' });
    expect(parsed.reason).not.toBe('');
  });

  it.each(CONTINUE)('CONTINUE: %j', (message) => {
    expect(parseSignal(message)).toMatchObject({ signal: 'CONTINUE', source: 'inferred' });
  });

  it.each(NOTHING)('nothing: %j', (message) => {
    expect(parseSignal(message)).toMatchObject({
      signal: 'BLOCKED',
      source: 'default',
      rule: 'no_signal',
      reason: null,
    });
  });

  it('and the rule names the phrase', () => {
    expect(parseSignal('All tasks are complete.').rule).toBe('inferred:complete:all-tasks-are-complete');
    expect(parseSignal('Please provide it.').rule).toBe('inferred:blocked:please-provide');
    expect(parseSignal('```\n```').rule).toBe('inferred:continue:code-block');
  });

  it('and a BLOCKED quotes the sentence that says so', () => {
    expect(parseSignal('Fine so far. I need your input on X. Thanks.').reason).toBe('I need your input on X');
  });
});
