import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { launchdAgent, serviceFor, systemdUnit } from '../../src/cli/unit-file.ts';

const PARTS = {
  command: ['/usr/bin/node', '/opt/my pulse/$x/100%/bin/pulse.js', 'serve', '--adopt'],
  environment: { PATH: '/usr/bin:/bin', PULSE_HOME: '/home/ada/a "b" \\c' },
  environmentFile: '/home/ada/.config/pulse/service.env',
  log: '/home/ada/.local/share/pulse/serve.log',
};

describe('the service', () => {
  it('is a user unit on Linux, an agent on macOS, and nothing elsewhere', () => {
    expect(serviceFor('linux', { HOME: '/home/ada' }).path).toBe(
      '/home/ada/.config/systemd/user/pulse.service',
    );
    expect(serviceFor('linux', { HOME: '/h', XDG_CONFIG_HOME: '/c' }).path).toBe(
      '/c/systemd/user/pulse.service',
    );
    expect(serviceFor('darwin', { HOME: '/Users/ada' }).path).toBe(
      '/Users/ada/Library/LaunchAgents/dev.pulse.serve.plist',
    );
    expect(() => serviceFor('win32', { HOME: 'C:' })).toThrow(/no service for win32/);
  });

  it('has words that systemd reads as they were', () => {
    const unit = systemdUnit(PARTS);
    expect(unit).toContain(
      'ExecStart="/usr/bin/node" "/opt/my pulse/$$x/100%%/bin/pulse.js" "serve" "--adopt"\n',
    );
    expect(unit).toContain('Environment="PULSE_HOME=/home/ada/a \\"b\\" \\\\c"\n');
    expect(unit).toContain('WantedBy=default.target');
    expect(() => systemdUnit({ ...PARTS, command: ['a\nExecStartPre=/bin/evil'] })).toThrow(/line break/);
  });

  it.skipIf(spawnSync('systemd-analyze', ['--version']).error)('is a unit that systemd takes', () => {
    const folder = mkdtempSync(join(tmpdir(), 'pulse-unit-'));
    try {
      const path = join(folder, 'pulse.service');
      writeFileSync(path, systemdUnit({ ...PARTS, command: [process.execPath, 'serve'] }));
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--user', path], {
        encoding: 'utf8',
        env: { ...process.env, XDG_RUNTIME_DIR: folder },
      });
      expect(status, stderr).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('has words that launchd reads as they were', () => {
    const plist = launchdAgent({ ...PARTS, command: ['/a & <b>', 'serve'] }, 'dev.pulse.serve');
    expect(plist).toContain('<string>/a &amp; &lt;b&gt;</string>');
    expect(plist).toContain('<key>KeepAlive</key><true/>');
    expect(plist).toContain('<key>PULSE_HOME</key>');
  });
});
