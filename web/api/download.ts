/** A browser fetches a download by itself, without our header: it gets an address that is good for a minute. */
import { useState } from 'react';
import { useLogin } from './action.ts';
import { type ApiError, storedKey } from './client.ts';
import { pulse } from './pulse.ts';

export function useDownload(): { run(path: string): void; error: unknown } {
  const [error, setError] = useState<unknown>(null);
  const toLogin = useLogin();
  const run = async (path: string): Promise<void> => {
    setError(null);
    try {
      const url = storedKey() === null ? path : (await pulse.ticket(path)).url;
      const link = document.createElement('a');
      link.href = url;
      link.download = '';
      link.click();
    } catch (failure) {
      if ((failure as ApiError).status === 401) toLogin();
      else setError(failure);
    }
  };
  return { run: (path) => void run(path), error };
}
