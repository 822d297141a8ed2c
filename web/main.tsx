import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { applyTheme } from './shell/theme.ts';
import './styles/theme.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/parts.css';
import './styles/views.css';
import './styles/loops.css';
import './styles/lists.css';
import './styles/diff.css';

applyTheme();
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
