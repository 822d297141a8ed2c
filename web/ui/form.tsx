/** A form that is told its fields: what is typed is kept as a draft, and becomes the body of one request. */
import { type FormEvent, type ReactNode, useEffect, useId, useState } from 'react';
import type { Action } from '../api/action.ts';
import { type NumberKind, numberFault, numberOf } from './number.ts';
import { ActionButton, Failure } from './parts.tsx';

export interface Field {
  name: string;
  label: string;
  /** `lines`: a list, one a line; `words`: a list by commas; `file`: a text that may be read from a file. */
  kind?: 'text' | 'area' | 'lines' | 'words' | NumberKind | 'flag' | 'choice' | 'file';
  choices?: readonly string[];
  placeholder?: string;
  hint?: string;
  isRequired?: boolean;
  isWide?: boolean;
}

export type Values = Readonly<Record<string, string>>;

/** What is empty is left to Pulse. Throws where a number cannot be read. */
export function bodyOf(fields: readonly Field[], values: Values): Record<string, unknown> {
  const entries = fields.map((field) => [field.name, partOf(field, values[field.name] ?? '')] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function partOf({ label, kind = 'text' }: Field, text: string): unknown {
  if (text.trim() === '') return undefined;
  switch (kind) {
    case 'number':
    case 'usd':
      return numberOf(label, text, kind);
    case 'flag':
      return text === 'yes' ? true : undefined;
    case 'lines':
      return text.split('\n').filter((line) => line.trim() !== '');
    case 'words':
      return text.split(/[,\s]+/).filter((word) => word !== '');
    case 'area':
    case 'file':
      return text;
    default:
      return text.trim();
  }
}

export function useValues(draft: string): [Values, (name: string, value: string) => void, () => void] {
  const key = `pulse.draft.${draft}`;
  const [values, setValues] = useState<Values>(() => stored(key));
  const set = (name: string, value: string): void =>
    setValues((before) => {
      const next = { ...before, [name]: value };
      sessionStorage.setItem(key, JSON.stringify(next));
      return next;
    });
  const clear = (): void => {
    sessionStorage.removeItem(key);
    setValues({});
  };
  return [values, set, clear];
}

function stored(key: string): Values {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? '{}') as Values;
  } catch {
    return {};
  }
}

interface FieldsProps {
  fields: readonly Field[];
  values: Values;
  onChange(name: string, value: string): void;
}

export function Fields({ fields, values, onChange }: FieldsProps) {
  return (
    <div className="fields">
      {fields.map((field) => (
        <One
          key={field.name}
          field={field}
          value={values[field.name] ?? ''}
          onChange={(value) => onChange(field.name, value)}
        />
      ))}
    </div>
  );
}

interface OneProps {
  field: Field;
  value: string;
  onChange(value: string): void;
}

function One({ field, value, onChange }: OneProps) {
  const id = useId();
  const { label, kind = 'text', choices = [], placeholder, hint } = field;
  const shared = { id, value, placeholder, 'aria-describedby': hint ? `${id}-hint` : undefined };
  if (kind === 'number' || kind === 'usd')
    return <NumberBox {...{ label, kind, value, placeholder, hint, onChange }} />;
  const isLong = kind === 'area' || kind === 'lines' || kind === 'file';
  if (kind === 'flag') {
    return (
      <label className="inline field">
        <input
          type="checkbox"
          checked={value === 'yes'}
          onChange={({ target }) => onChange(target.checked ? 'yes' : '')}
        />{' '}
        {label}
      </label>
    );
  }
  return (
    <div className={`field ${isLong || field.isWide ? 'field-wide' : ''}`}>
      <label htmlFor={id}>{label}</label>
      {kind === 'choice' ? (
        <select {...shared} onChange={({ target }) => onChange(target.value)}>
          <option value="">as configured</option>
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : isLong ? (
        <textarea
          {...shared}
          rows={kind === 'file' ? 6 : 3}
          className={kind === 'area' ? '' : 'code'}
          onChange={({ target }) => onChange(target.value)}
        />
      ) : (
        <input {...shared} onChange={({ target }) => onChange(target.value)} />
      )}
      {kind === 'file' && (
        <input
          type="file"
          aria-label={`Read ${label} from a file`}
          onChange={({ target }) => void target.files?.[0]?.text().then(onChange)}
        />
      )}
      {hint && (
        <span className="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}

interface NumberBoxProps {
  label: string;
  kind?: NumberKind;
  value: string;
  onChange(value: string): void;
  placeholder?: string | undefined;
  hint?: string | undefined;
  size?: number;
}

/** Says beside the field what is wrong with it, as soon as it is. */
export function NumberBox({ label, kind, value, onChange, placeholder, hint, size }: NumberBoxProps) {
  const id = useId();
  const fault = numberFault(value, kind);
  const said = fault ?? hint;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        {...{ id, value, placeholder, size }}
        inputMode="decimal"
        aria-invalid={fault ? true : undefined}
        aria-describedby={said ? `${id}-said` : undefined}
        onChange={({ target }) => onChange(target.value)}
      />
      {said && (
        <span className={fault ? 'field-fault tone-failed' : 'hint'} id={`${id}-said`}>
          {said}
        </span>
      )}
    </div>
  );
}

interface FormProps {
  label: string;
  fields: readonly Field[];
  /** Names what is kept of it. */
  draft: string;
  action: Action<unknown>;
  /** Beside what was filled in. */
  fixed?: Record<string, unknown>;
  submit: string;
}

function Form({ label, fields, draft, action, fixed = {}, submit }: FormProps) {
  const [values, set, clear] = useValues(draft);
  const { result } = action;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was sent is no draft any longer
  useEffect(() => {
    if (result !== undefined) clear();
  }, [result]);
  const [fault, setFault] = useState<unknown>(null);
  const isMissing = fields.some(({ name, isRequired }) => isRequired && (values[name] ?? '').trim() === '');
  const send = (event: FormEvent): void => {
    event.preventDefault();
    setFault(null);
    try {
      action.run({ ...fixed, ...bodyOf(fields, values) });
    } catch (thrown) {
      setFault(thrown);
    }
  };
  return (
    <form className="stack" aria-label={label} onSubmit={send}>
      <Fields fields={fields} values={values} onChange={set} />
      <Failure error={fault ?? action.error} />
      <p className="row">
        <ActionButton type="submit" isPrimary disabled={action.isBusy || isMissing}>
          {submit}
        </ActionButton>
      </p>
    </form>
  );
}

interface FormPanelProps extends FormProps {
  /** Opens it. */
  title: string;
}

/** A form that is there when it is asked for. */
export function FormPanel({ title, ...form }: FormPanelProps) {
  return (
    <Panel title={title}>
      <Form {...form} />
    </Panel>
  );
}

/** What most people do not need is made when it is asked for. */
export function Panel({ title, children }: { title: string; children: ReactNode }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details className="panel" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && children}
    </details>
  );
}
