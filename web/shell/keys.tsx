/** The keyboard: letters act on what is shown, `j` and `k` move through rows, `?` tells all of it. */
import { useEffect, useState } from 'react';
import { Dialog } from '../ui/dialog.tsx';
import { areKeysOff, currentActions } from './actions.ts';
import { Palette } from './palette.tsx';

type Open = 'palette' | 'help' | null;

export function Keys() {
  const [open, setOpen] = useState<Open>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        setOpen('palette');
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      if (document.querySelector('dialog[open]') || areKeysOff()) return;
      if (event.key === '?') {
        setOpen('help');
        return;
      }
      if (event.key === 'j' || event.key === 'k') {
        moveRow(event.key === 'j' ? 1 : -1);
        return;
      }
      const action = currentActions().find(({ key }) => key === event.key);
      if (!action) return;
      event.preventDefault();
      action.run();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  const close = (): void => setOpen(null);
  if (open === 'palette') return <Palette onClose={close} />;
  if (open === 'help') return <Help onClose={close} />;
  return null;
}

function isTyping({ target, key }: KeyboardEvent): boolean {
  const element = target as HTMLElement;
  const isField = element.matches?.('input, textarea, select');
  if (isField && key === 'Escape') element.blur();
  return isField;
}

/** Rows are the links that are marked so; focus is the selection. */
function moveRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')].filter(
    (row) => row.offsetParent !== null,
  );
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const next =
    rows[at === -1 ? (step === 1 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + step))];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

const FIXED: [string, string][] = [
  ['j  k', 'next, previous row'],
  ['Enter', 'open it'],
  ['Esc', 'leave a field, close a dialog'],
  ['Ctrl-K', 'all actions'],
  ['?', 'this'],
];

function Help({ onClose }: { onClose(): void }) {
  const listed = currentActions().filter(({ key }) => key !== undefined);
  return (
    <Dialog label="Keys" onClose={onClose}>
      <h2>Keys</h2>
      <dl className="keys">
        {[...FIXED, ...listed.map(({ key, label }): [string, string] => [key!, label])].map(
          ([key, label]) => (
            <div key={`${key}${label}`}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{label}</dd>
            </div>
          ),
        )}
      </dl>
      <p className="hint">Letters can be turned off in Settings.</p>
    </Dialog>
  );
}
