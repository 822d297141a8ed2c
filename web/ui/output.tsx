/** Text as a program printed it. A long one scrolls, so the keyboard must reach it. */
export function Output({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <pre className="output" tabIndex={0}>
      {text}
    </pre>
  );
}
