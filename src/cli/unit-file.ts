/** The file by which the machine keeps `pulse serve --adopt` running: a systemd user unit, or a launchd agent. Pure. */
import { join } from 'node:path';
import { PulseError } from '../domain/errors.ts';

export interface ServiceParts {
  /** Program and arguments, absolute. */
  command: readonly string[];
  environment: Readonly<Record<string, string>>;
  /** Variables that a person adds: keys of agents. It need not exist. */
  environmentFile: string;
  /** Where launchd writes what it prints. */
  log: string;
}

export interface Service {
  kind: 'systemd' | 'launchd';
  /** Where the file belongs. */
  path: string;
  name: string;
}

export function serviceFor(
  platform: NodeJS.Platform,
  environment: NodeJS.ProcessEnv & { HOME: string },
): Service {
  const { HOME: home, XDG_CONFIG_HOME: config } = environment;
  if (platform === 'darwin') {
    const name = 'dev.pulse.serve';
    return { kind: 'launchd', name, path: join(home, 'Library/LaunchAgents', `${name}.plist`) };
  }
  if (platform === 'linux') {
    const name = 'pulse.service';
    return { kind: 'systemd', name, path: join(config || join(home, '.config'), 'systemd/user', name) };
  }
  throw new PulseError('usage', `There is no service for ${platform}.`, {
    hint: 'Have `pulse serve --adopt` started by what starts programs there.',
  });
}

export function systemdUnit({ command, environment, environmentFile }: ServiceParts): string {
  const set = Object.entries(environment).map(
    ([name, value]) => `Environment=${quoteUnit(`${name}=${value}`)}`,
  );
  return `[Unit]
Description=Pulse: sessions of coding agents, their schedules and their page
After=network-online.target

[Service]
ExecStart=${command.map((word) => quoteUnit(word).replaceAll('$', '$$$$')).join(' ')}
${set.join('\n')}
EnvironmentFile=-${unitText(environmentFile)}
Restart=always
RestartSec=5
SuccessExitStatus=130 143
KillMode=mixed
TimeoutStopSec=20

[Install]
WantedBy=default.target
`;
}

/** launchd knows no file of variables: the shell that becomes the service reads it, as systemd would. */
const WITH_VARIABLES = `file=$1; shift
[ -r "$file" ] && while IFS= read -r line || [ -n "$line" ]; do
  name=\${line%%=*} value=\${line#*=}
  case $line in *=*) ;; *) continue ;; esac
  case $name in ''|[0-9]*|*[!A-Za-z0-9_]*) continue ;; esac
  case $value in \\"*\\"|\\'*\\') value=\${value#?} value=\${value%?} ;; esac
  export "$name=$value"
done < "$file"
exec "$@"`;

export function launchdAgent(
  { command, environment, environmentFile, log }: ServiceParts,
  name: string,
): string {
  const words = ['/bin/sh', '-c', WITH_VARIABLES, 'pulse', environmentFile, ...command];
  const strings = words.map((word) => `    <string>${xml(word)}</string>`);
  const set = Object.entries(environment).map(
    ([key, value]) => `    <key>${xml(key)}</key><string>${xml(value)}</string>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${xml(name)}</string>
  <key>ProgramArguments</key>
  <array>
${strings.join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${set.join('\n')}
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><true/>
  <key>StandardOutPath</key><string>${xml(log)}</string>
  <key>StandardErrorPath</key><string>${xml(log)}</string>
</dict>
</plist>
`;
}

/** As systemd reads a word: in quotes, its own signs doubled. */
function quoteUnit(word: string): string {
  return `"${unitText(word).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function unitText(text: string): string {
  if (/[\0\r\n]/.test(text))
    throw new PulseError('invalid_input', 'A path or a variable has a line break: no unit can hold that.');
  return text.replaceAll('%', '%%');
}

function xml(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML cannot hold them
  const plain = text.replaceAll(/[\x00-\x08\x0b\x0c\x0e-\x1f]/g, '');
  return plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
