import { describeAgent, describeTokenBudget, describeUsageLimit } from './cases.ts';
import { gemini } from './gemini-subject.ts';

describeAgent(gemini);
describeUsageLimit(gemini);
describeTokenBudget(gemini, 'echo more >> log.txt; sleep 1');
