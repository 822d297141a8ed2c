/** What a failing check is about. */
export type IssueSource = 'Build' | 'Lint' | 'Test';
