/** What was typed and not sent survives a login, a reload and a lost server. */
import { useState } from 'react';

export function useDraft(name: string): [string, (text: string) => void] {
  const key = `pulse.draft.${name}`;
  const [text, setText] = useState(() => sessionStorage.getItem(key) ?? '');
  const set = (next: string): void => {
    setText(next);
    if (next === '') sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, next);
  };
  return [text, set];
}
