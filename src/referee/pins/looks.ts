/** Whether a file's name says that it is a check, and not the work: `scripts/check.mjs`, `tools/verify.py`. */
export function looksLikeCheck(path: string): boolean {
  return /(?:^|[/._-])(?:tests?|specs?|checks?|verify|verification|validate|lint|ci|bench|assert|expect)(?:[/._-]|$)/i.test(
    path,
  );
}
