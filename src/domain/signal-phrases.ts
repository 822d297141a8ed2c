/**
 * What an agent writes when it gives no tag (docs/protocol/signals.md, Inference). Every pattern is bounded: no unbounded
 * repetition inside another, so a long message costs linear time.
 */
export interface Phrase {
  /** The last part of `signal_rule`. */
  name: string;
  pattern: RegExp;
}

const NOW = '(?:(?:now|fully|all|finally|successfully|already|officially|completely|100%) ){0,2}';
const DONE = '(?:complete|completed|done|finished)\\b';
const ALL =
  'all (?:of )?(?:the |these |those |my |your |our )?(?:\\d+ |two |three |four |five |requested |planned |assigned |required |listed |remaining |outstanding |given |specified ){0,2}';

export const COMPLETE_PHRASES: readonly Phrase[] = [
  phrase(
    'all-tasks-are-complete',
    `${ALL}(?:tasks|todos|items|requirements|goals|objectives|acceptance criteria|work items|steps) (?:are|were|have been|have) ${NOW}(?:${DONE}|implemented\\b|met\\b|satisfied\\b|fulfilled\\b)`,
  ),
  phrase(
    'all-tasks-complete',
    'all (?:tasks|todos|requirements|work) (?:complete|completed|done)(?=[ )!.;\\n✅🎉✨])',
  ),
  phrase('all-work-is-complete', `all (?:of )?(?:the )?(?:requested )?work (?:is|has been) ${NOW}${DONE}`),
  phrase('implementation-is-complete', `implementation (?:is|has been) ${NOW}${DONE}`),
  phrase('task-is-complete', `the (?:entire |whole )?(?:task|work|project) (?:is|has been) ${NOW}${DONE}`),
  phrase(
    'goal-achieved',
    `(?:the|your|this) (?:session |overall |stated |whole |entire |project )?goal (?:is|was|has been) ${NOW}(?:achieved|met|reached|accomplished|fulfilled|${DONE})`,
  ),
  phrase('everything-is-done', `everything (?:is|has been|was) ${NOW}(?:${DONE}|implemented\\b)`),
  phrase(
    'nothing-left-to-do',
    "(?:there is |there's )?nothing (?:is |more is )?(?:left|remains|remaining) to (?:do|be done)",
  ),
];

const PERSON_GIVES =
  '(?:input|decision|approval|confirmation|feedback|guidance|help|permission|answer|response|reply|clarification|direction|credentials|go-ahead)\\b';

export const BLOCKED_PHRASES: readonly Phrase[] = [
  phrase(
    'need-your-input',
    `(?:need|needs|require|requires) (?:some |more |further |additional |to have )?your (?:[a-z-]+ )?${PERSON_GIVES}`,
  ),
  phrase('need-input-from-you', `(?:need|needs|require|requires) (?:[a-z-]+ ){1,4}from you\\b`),
  phrase(
    'please-provide',
    'please (?:also |first |kindly )?(?:provide|supply|clarify|advise|grant|confirm)\\b',
  ),
  phrase(
    'cannot-proceed',
    "(?:cannot|can't|cant|can not|unable to|not able to) (?:[a-z]+ )?(?:proceed|continue|go on|go further|move forward|make (?:any |further |any further )?progress)\\b",
  ),
  phrase(
    'waiting-for-your',
    '(?:(?:waiting|wait) (?:for|on)|awaiting) (?:your?|further instructions|a (?:human|person|decision|reply|response))\\b',
  ),
  phrase(
    'need-clarification',
    '(?:need|needs|require|requires) (?:some |further |more |additional |a )?(?:clarification|(?:human|manual) (?:input|intervention|help|decision|review)|more information|a decision)\\b',
  ),
  phrase('i-am-blocked', "(?:i am|i'm|we are|we're) (?:currently |now |still )?(?:blocked|stuck)\\b"),
  phrase('which-would-you-prefer', '(?:how|which|what) (?:[a-z]+ ){0,3}would you (?:like|prefer)\\b'),
];

export const CONTINUE_PHRASES: readonly Phrase[] = [
  phrase(
    'created-file',
    '(?:created|added|wrote|updated|modified|edited) (?:a |the |\\d+ )?(?:new )?(?:test |source |config |configuration )?files?\\b',
  ),
  phrase('next-step', 'next steps?\\b'),
  phrase('next-i-will', "next,? (?:i|we)(?: will| am going to| are going to| need to|'ll|'m going to)\\b"),
  phrase(
    'i-will-now',
    "(?:i|we)(?: will|'ll| am going to|'m going to) (?:now|next|then|continue|proceed|keep)\\b",
  ),
  phrase('continuing-with', '(?:continuing|moving on|proceeding) (?:with|on|to)\\b'),
  phrase('remaining-work', '(?:remaining|outstanding) (?:work|tasks?|items?|steps?|todos?)\\b'),
  phrase(
    'still-to-do',
    '(?:still (?:need|needs|have|has) to|still to (?:do|come)|left to do|yet to be done)\\b',
  ),
  phrase('in-progress', '(?:work (?:is |still )?in progress|still working on|in the next iteration)\\b'),
];

/** Negations void a phrase that follows them in the same clause. */
export const NEGATION =
  /\b(?:not|never|no|none|nothing|nobody|neither|nor|cannot|without|hardly|barely|scarcely|isnt|arent|wasnt|dont|doesnt|didnt|cant|wont|far from|yet to|fail(?:s|ed)? to|unable|instead of|rather than|do i)\b|\w+n't\b/i;

/** A negation of one of these reaches past commas: "I don't think the parser, the lexer and all tasks are complete". */
export const NEGATED_CLAIM =
  /(?:\b(?:not|never|no|cannot|hardly)|n't)\b.{0,40}?\b(?:think|believe|say|saying|claim|sure|certain|confident|guarantee|confirm|mean|know|convinced|clear|true|case|way|evidence|proof|yet)\b/i;

/** Conditionals void a phrase that follows them in the same clause. */
export const CONDITIONAL =
  /\b(?:if|once|when|whenever|until|till|before|unless|after|as soon as|in case|assuming|provided(?: that)?|supposing|as long as|whether|should|lest|in order to|so that)\b/i;

/** These also govern the main clause after a comma: "If the tests pass, all tasks are complete." */
export const OPENING_CONDITIONAL =
  /\b(?:if|once|when|whenever|in case|assuming|provided that|supposing|as soon as)\b/i;

/** Only for COMPLETE, anywhere before it in the sentence: every conditional, and what asks for or checks a state. */
export const COMPLETE_CONDITIONAL =
  /\b(?:if|once|when|whenever|until|till|before|unless|after|as soon as|in case|assuming|provided(?: that)?|supposing|as long as|whether|lest|in order to|so that|ensure|ensures|ensuring|make sure|makes sure|making sure|check|checks|checking|verify|verifies|verifying|confirming|to confirm|doubt|unclear|pretend|criteri(?:a|on)|definition of done|todo|to do)\b|\[ \]/i;

/** Only for COMPLETE, in its own clause: doubt, the future, hearsay, and parts that are not the whole. */
export const COMPLETE_HEDGE =
  /\b(?:should|would|could|might|may|must|can|will|shall|going to|gonna|almost|nearly|mostly|partly|partially|half|roughly|virtually|practically|think|believe|hope|hoping|assume|guess|suppose|probably|perhaps|maybe|likely|apparently|seems?|seemingly|supposedly|allegedly|pretend|claims?|claimed|says?|said|wants?|wanted|needs?|expects?|wish|phase|stage|milestone|part|step|first|initial|partial|basic|prototype|next|goal|target|condition|requirement)\b|\bphase \d/i;

/** Only for COMPLETE, after it in the sentence: exceptions, conditions, and a scope smaller than the whole. */
export const COMPLETE_TAIL =
  /\b(?:except|excepting|apart from|aside from|other than|besides|save for|but|however|although|though|once|when|until|if|unless|pending|provided|assuming|modulo|only|not yet|or not|not quite|not really|in theory|while|still|remaining|left|so far|for now)\b|,\s*not\b|\b(?:for|in|of) (?:the |this )?(?:phase|stage|milestone|part|step|first|iteration)\b|%|~~|\|/i;

/** Only for CONTINUE, right after it. */
export const NONE_TAIL = /^[\s:*-]{0,8}(?:none|n\/a|nothing|no)\b/i;

function phrase(name: string, source: string): Phrase {
  return { name, pattern: new RegExp(`(?<![\\p{L}\\p{N}_'-])(?:${source})(?![\\p{L}_-])`, 'giu') };
}
