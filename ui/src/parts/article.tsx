// A report as the server draws it, in a shadow root so that its style stays its own.

import { useEffect, useRef } from 'preact/hooks';
import type { Article } from '../contract.ts';

/**
 * The stylesheet of a whole page as one of a shadow root: its `:root` and `body` are the host. Margins of `main` and the
 * colour of the paper are left to the page around it.
 */
export function scoped(css: string): string {
  return `${css.replace(/:root(?=[\s,{.[:>])/g, ':host').replace(/(^|[},;\s])body(?=\s*[{,])/gm, '$1:host')}
:host{display:block;background:none;margin:0}
main,article{max-width:none;margin:0;padding:0}
h1{font-size:1.5rem}
figure>h3,p,h3,.warnings{max-width:44rem}
figure,section{max-width:50rem}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}`;
}

export function Report({ article }: { article: Article }) {
  const host = useRef<HTMLDivElement>(null);

  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const style = document.createElement('style');
    style.textContent = scoped(article.css);
    const body = document.createElement('div');
    body.innerHTML = article.html;
    for (const scroll of body.querySelectorAll('.scroll')) scroll.setAttribute('tabindex', '0');
    root.replaceChildren(style, body);

    // A fragment names a place in the shadow, which the browser does not look into.
    const jump = (event: Event) => {
      const link = (event.target as Element).closest?.('a[href^="#"]');
      const place = link && root.getElementById(decodeURIComponent(link.getAttribute('href')?.slice(1) ?? ''));
      if (!place) return;
      event.preventDefault();
      place.closest('details')?.setAttribute('open', '');
      place.scrollIntoView();
    };
    root.addEventListener('click', jump);
    return () => root.removeEventListener('click', jump);
  }, [article]);

  return <div ref={host} class="report" />;
}
