/** The small parts that every view is made of. */
import type { ButtonHTMLAttributes, ReactNode } from 'react';
import { ApiError } from '../api/client.ts';
import { useLiveState } from '../live/use-live.ts';

export function Button({
  isPrimary = false,
  isQuiet = false,
  className = '',
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { isPrimary?: boolean; isQuiet?: boolean }) {
  const look = isPrimary ? 'button-primary' : isQuiet ? 'button-quiet' : '';
  return <button type="button" {...rest} className={`button ${look} ${className}`} />;
}

/** Of what changes something: off while nobody would hear it. */
export function ActionButton(props: Parameters<typeof Button>[0]) {
  const { isSilent: isOff } = useLiveState();
  return (
    <Button
      {...props}
      disabled={props.disabled || isOff}
      title={isOff ? 'Pulse does not answer' : props.title}
    />
  );
}

export function Failure({ error }: { error: unknown }) {
  if (!error) return null;
  const { message } = error as Error;
  const known = error instanceof ApiError ? error : null;
  const violations = (known?.details.violations ?? []) as ({ path?: string; message: string } | string)[];
  return (
    <div className="failure" role="alert">
      <p>
        {known && <code>{known.code}</code>} {message}
      </p>
      {violations.length > 1 && (
        <ul>
          {violations.map((violation) => {
            const text =
              typeof violation === 'string' ? violation : `${violation.path ?? ''} ${violation.message}`;
            return <li key={text}>{text}</li>;
          })}
        </ul>
      )}
      {known?.hint && <p className="hint">{known.hint}</p>}
    </div>
  );
}

/** In place of a view that could not be read. */
export function NotShown({ what, error }: { what: string; error: unknown }) {
  return (
    <>
      <h1>{what} cannot be shown</h1>
      <Failure error={error} />
    </>
  );
}

/** Nothing is there: a sentence, and the command that changes it. */
export function Empty({ children, command }: { children: ReactNode; command?: string }) {
  return (
    <div className="empty">
      <p>{children}</p>
      {command && <Command text={command} />}
    </div>
  );
}

export function Command({ text }: { text: string }) {
  return (
    <code className="command">
      <span aria-hidden="true">$ </span>
      {text}
    </code>
  );
}

export function Loading({ of }: { of: string }) {
  return <p className="loading">Loading {of}…</p>;
}

export function Meter({
  label,
  value,
  limit,
  text,
}: {
  label: string;
  value: number;
  limit: number | null;
  text: string;
}) {
  const part = limit === null || limit <= 0 ? null : Math.min(1, value / limit);
  return (
    <span className="meter">
      <span className="meter-label">{label}</span> <span className="figures">{text}</span>
      {part !== null && (
        <svg className={`meter-bar ${part > 0.8 ? 'tone-needs' : ''}`} viewBox="0 0 40 4" aria-hidden="true">
          <rect className="meter-ground" width="40" height="4" rx="2" />
          <rect className="meter-part" width={Math.max(part > 0 ? 2 : 0, 40 * part)} height="4" rx="2" />
        </svg>
      )}
    </span>
  );
}

export function Section({
  title,
  aside,
  children,
}: {
  title: string;
  aside?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className="section">
      <header className="section-head">
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}
