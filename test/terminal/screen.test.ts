import { describe, expect, it } from 'vitest';
import { openScreen } from '../../src/terminal/screen.ts';

function scene() {
  const written: string[] = [];
  const screen = openScreen({ write: (text: string) => written.push(text) > 0 } as never);
  return { screen, take: () => written.splice(0).join('') };
}

describe('a screen', () => {
  it('writes only the rows that changed, and nothing where none did', () => {
    const { screen, take } = scene();
    using _ = screen;
    screen.draw(['one', 'two', 'three']);
    take();
    screen.draw(['one', 'TWO', 'three']);
    const second = take();
    expect(second).toContain('\x1b[2;1HTWO\x1b[K');
    expect(second).not.toContain('one');
    screen.draw(['one', 'TWO', 'three']);
    expect(take()).toBe('');
    screen.draw(['one']);
    expect(take()).toContain('\x1b[3;1H\x1b[K');
  });

  it('shows the cursor only where something is typed', () => {
    const { screen, take } = scene();
    using _ = screen;
    screen.draw(['a'], { row: 0, column: 1 });
    expect(take()).toContain('\x1b[1;2H\x1b[?25h');
    screen.draw(['a']);
    expect(take()).toContain('\x1b[?25l');
  });

  it('gives the terminal back, and draws whole when it has it again', () => {
    const { screen, take } = scene();
    screen.draw(['one']);
    take();
    screen.leave();
    expect(take()).toBe('\x1b[?25h\x1b[?1049l');
    screen.draw(['nobody sees it']);
    expect(take()).toBe('');
    screen.enter();
    screen.draw(['one']);
    expect(take()).toContain('one');
    screen.forget();
    screen.draw(['one']);
    expect(take()).toContain('one');
    screen[Symbol.dispose]();
    screen[Symbol.dispose]();
    expect(take()).toBe('\x1b[?25h\x1b[?1049l');
  });
});
