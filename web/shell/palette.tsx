/** Ctrl-K: every action of what is shown, and every address, found by typing. */
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { Dialog } from '../ui/dialog.tsx';
import { currentActions, type PageAction } from './actions.ts';

export function Palette({ onClose }: { onClose(): void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const wanted = text.toLowerCase().split(/\s+/);
  const found = currentActions().filter(({ label }) =>
    wanted.every((word) => label.toLowerCase().includes(word)),
  );
  const list = useRef<HTMLDivElement>(null);
  // What Enter would run is always seen.
  // biome-ignore lint/correctness/useExhaustiveDependencies: of another text it is another action
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [at, text]);
  const choose = (action: PageAction | undefined): void => {
    onClose();
    action?.run();
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') {
      event.preventDefault();
      choose(found[at]);
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    setAt((before) => Math.max(0, Math.min(found.length - 1, before + step)));
  };
  return (
    <Dialog label="Actions" onClose={onClose}>
      <input
        className="palette-input"
        type="text"
        role="combobox"
        aria-label="Action"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found[at] ? `palette-${at}` : undefined}
        placeholder="What do you want to do?"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <div className="palette-list" ref={list} id="palette-list" role="listbox" aria-label="Actions">
        {found.map((action, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the field above has the focus
          <div
            key={action.label}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === at}
            onClick={() => choose(action)}
          >
            <span>{action.label}</span>
            {action.key && <kbd>{action.key}</kbd>}
          </div>
        ))}
      </div>
    </Dialog>
  );
}
