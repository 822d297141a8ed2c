/**
 * Whether a person trusts what a repository's own config says. Limits, `context`, `labels` and `proof` are believed without a
 * question; all else there runs commands or widens what a session may do, and is believed only once a person has said
 * so for exactly this content of the file. What was said is a small file of the user's own state directory.
 */

import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Config, loadConfig, type ProjectSettings, type SettingName } from './config.ts';
import { PulseError } from './domain/errors.ts';
import { quoteIfNeeded } from './domain/shell-words.ts';
import type { Home } from './home.ts';

/** A repository, as `openRepository` found it. */
export interface TrustedProject {
  root: string;
  commonDir: string;
  rootCommit: string;
}

export interface TrustRequest {
  home: Home;
  environment: NodeJS.ProcessEnv;
  project: TrustedProject;
  /** A person said it for this session alone (`start --trust`). */
  isTrustedNow?: boolean;
  /** The content that the session was started with (`SessionSettings.trustedConfig`). */
  trustedBefore?: string | null;
}

/**
 * The settings that a session may be run with: the one way to them for every operation that acts on them. Reads the
 * file once; what is hashed is what was parsed. Throws `invalid_config`, or `untrusted_config` with the settings in
 * question as its data.
 *
 * A resume that reads the config again calls this with `trustedBefore` from the session's stored settings, takes what
 * it returns, and stores `trustedConfig: config.project?.sha256 ?? null` with the settings. Refused, nothing is
 * changed: the session stays stopped with what it had. Adopting a running session reads no config.
 */
export async function loadTrustedConfig(request: TrustRequest): Promise<Config> {
  const { home, environment, project, isTrustedNow = false, trustedBefore = null } = request;
  const config = await loadConfig(project.root, environment);
  const file = config.project;
  if (!file || isTrustedNow || file.sha256 === trustedBefore) return config;
  if ((await trustOf(home, project, file)) !== 'untrusted') return config;
  throw untrusted(project, file);
}

/** `unneeded`: it says nothing that has to be trusted. */
export type Trust = 'trusted' | 'untrusted' | 'unneeded';

export async function trustOf(home: Home, project: TrustedProject, file: ProjectSettings): Promise<Trust> {
  if (askingSettings(file).length === 0) return 'unneeded';
  const text = await readFile(recordPath(home, project, file), 'utf8').catch(() => null);
  return text !== null && isRecordOf(text, file) ? 'trusted' : 'untrusted';
}

/** From now on this content of the file is believed, in this repository. */
export async function recordTrust(
  home: Home,
  project: TrustedProject,
  { file, actor }: { file: Pick<ProjectSettings, 'path' | 'sha256'>; actor: string },
): Promise<void> {
  const path = recordPath(home, project, file);
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const record = {
    config: file.path,
    sha256: file.sha256,
    trustedBy: actor,
    trustedAt: new Date().toISOString(),
  };
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    await writeFile(draft, `${JSON.stringify(record)}\n`, { mode: 0o600, flag: 'wx' });
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

/** What holds without a question: it limits a session or does not concern it, and runs nothing. */
const LIMITING: readonly SettingName[] = [
  'maxIterations',
  'budgetUsd',
  'budgetTokens',
  'timeLimit',
  'iterationTimeout',
  'idleTimeout',
  'patience',
  'limits',
  'maxAgents',
  'context',
  'labels',
  'proof',
];

/** The settings of the file that must be trusted. `budgetUsd: none` is no limit: it takes one away. */
export function askingSettings({ settings }: ProjectSettings): SettingName[] {
  return (Object.keys(settings) as SettingName[]).filter(
    (name) => !LIMITING.includes(name) || (name === 'budgetUsd' && settings[name] === null),
  );
}

function untrusted({ root }: TrustedProject, file: ProjectSettings): PulseError {
  const names = askingSettings(file);
  const settings = Object.fromEntries(names.map((name) => [name, file.settings[name]]));
  return new PulseError(
    'untrusted_config',
    `${file.path} is not trusted, and it sets ${names.join(', ')}: settings that run commands or widen what a session may do.`,
    {
      hint: `Read the file. \`pulse trust --path ${quoteIfNeeded(root)}\` trusts what it says now, --trust does so for one session.`,
      data: { path: file.path, sha256: file.sha256, settings },
    },
  );
}

/** One file for each content: two that trust at once cannot undo each other, and going back to an old one is known. */
function recordPath(
  home: Home,
  { commonDir, rootCommit }: TrustedProject,
  { path, sha256 }: Pick<ProjectSettings, 'path' | 'sha256'>,
): string {
  const key = createHash('sha256').update(JSON.stringify([commonDir, rootCommit, path, sha256]));
  return join(home.trust, `${key.digest('hex')}.json`);
}

function isRecordOf(text: string, { path, sha256 }: ProjectSettings): boolean {
  try {
    const record = JSON.parse(text) as { config?: unknown; sha256?: unknown };
    return record.config === path && record.sha256 === sha256;
  } catch {
    return false; // Pulse did not write this
  }
}
