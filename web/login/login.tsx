/** The token, or a one-use code from the address, becomes a key of this browser. */
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { ask, storedKey, storeKey } from '../api/client.ts';
import { reconnect } from '../live/live.ts';
import { announce } from '../shell/announce.tsx';
import { useGo } from '../ui/address.ts';
import { Icon } from '../ui/icons.tsx';
import { Button, Command, Failure } from '../ui/parts.tsx';

export function Login() {
  const [token, setToken] = useState('');
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setIsBusy] = useState(false);
  const [parameters] = useSearchParams();
  const go = useGo();
  const client = useQueryClient();
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setIsBusy(true);
    setError(null);
    try {
      await signIn({ token: token.trim() });
      await client.invalidateQueries();
      go(ownAddress(parameters.get('next')));
    } catch (thrown) {
      setError(thrown);
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <div className="login">
      <h1>
        <Icon name="pulse" /> Pulse
      </h1>
      {parameters.has('used') && (
        <p className="failure" role="alert">
          This link does not sign in any more: it works once, for ten minutes. Sign in by the token, or open
          another.
        </p>
      )}
      <form onSubmit={submit}>
        <label htmlFor="token">Token</label>
        <input
          id="token"
          type="text"
          autoComplete="off"
          spellCheck={false}
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
        <Button type="submit" isPrimary disabled={isBusy || token.trim() === ''}>
          Sign in
        </Button>
        <Failure error={error} />
      </form>
      <p className="hint">
        It lies in the file <code>token</code> of the state directory. Or let Pulse open this page:
      </p>
      <Command text="pulse open" />
    </div>
  );
}

/** Throws `ApiError`. */
async function signIn(shown: { token: string } | { code: string }): Promise<void> {
  const { key } = await ask<{ key: string }>('/api/login', {
    method: 'POST',
    body: { ...shown, name: deviceName() },
  });
  storeKey(key);
  reconnect();
}

/** A code in the address (`#code=…`) is used at once and taken out of the address and its history. */
export function useCode(): void {
  const client = useQueryClient();
  const go = useGo();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address is looked at once
  useEffect(() => {
    const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
    if (!code) return;
    history.replaceState(null, '', location.pathname + location.search);
    signIn({ code }).then(
      () => client.invalidateQueries(),
      () => {
        // Who pressed an old link on a device that has a key is signed in already.
        if (storedKey() !== null) return announce('The link was used before. This browser is signed in.');
        go(`/login?used=yes&next=${encodeURIComponent(location.pathname + location.search)}`);
      },
    );
  }, []);
}

/** Only an address of this page: a link must not send a person elsewhere after the login. */
function ownAddress(next: string | null): string {
  return next?.startsWith('/') && !next.startsWith('//') && !next.includes('\\') ? next : '/';
}

function deviceName(): string {
  const { userAgent } = navigator;
  const browser = /(Firefox|Edg|OPR|Chrome|Safari)\//.exec(userAgent)?.[1] ?? 'browser';
  const system = /(Android|iPhone|iPad|Mac OS X|Windows|Linux)/.exec(userAgent)?.[1] ?? '';
  return `${browser} ${system}`.trim();
}
