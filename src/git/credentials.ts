/**
 * Passwords and tokens in a remote's address. Every user of the machine can read the arguments of a process, and git hands the address
 * on to its own helpers in theirs: so the secret is taken out of it and given by the environment.
 */
import { redact } from '../domain/redact.ts';

const WITH_LOGIN = /^(https?:\/\/)([^/@:\s]*)(?::([^/@\s]*))?@([^/\s]+)(.*)$/s;

/** The same call, with no password in its arguments. */
export function withoutPasswords<Call extends { args: string[]; env?: Record<string, string> }>(
  call: Call,
): Call {
  const headers = new Map<string, string>();
  const args = call.args.map((arg) => {
    const [, scheme, user = '', password = '', host, rest] = WITH_LOGIN.exec(arg) ?? [];
    if (password === '' && !isToken(user)) return arg;
    const login = Buffer.from(`${decoded(user)}:${decoded(password)}`).toString('base64');
    headers.set(`http.${scheme}${host}/.extraHeader`, `Authorization: Basic ${login}`);
    return `${scheme}${host}${rest}`;
  });
  return headers.size === 0 ? call : { ...call, args, env: withSettings(call.env ?? {}, headers) };
}

/** A server takes a token as a name without a password. A person's name is left alone: git asks a helper by it. */
function isToken(user: string): boolean {
  return user.length >= LONGER_THAN_NAMES || redact(user) !== user;
}

const LONGER_THAN_NAMES = 32;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // no escape, though it looks like one
  }
}

/** After those that the environment has already. */
function withSettings(
  env: Record<string, string>,
  settings: ReadonlyMap<string, string>,
): Record<string, string> {
  const first = Number(env.GIT_CONFIG_COUNT ?? 0) || 0;
  const added = [...settings].flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${first + index}`, key],
    [`GIT_CONFIG_VALUE_${first + index}`, value],
  ]);
  return { ...env, ...Object.fromEntries(added), GIT_CONFIG_COUNT: String(first + settings.size) };
}
