import { render } from 'preact';
import { App } from './app.tsx';
import { takeToken } from './session.ts';

takeToken();
const page = document.getElementById('page');
if (page) render(<App />, page);
