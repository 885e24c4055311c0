// A report as the server draws it, in a shadow root so that its style stays its own.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Article } from '../contract.ts';
import { scoped } from '../scoped.ts';

interface Props {
  article: Article;
  /** The heading of a section that comes first, below the answer. */
  first?: string;
  /** What the page has to add, below the answer. */
  children?: ComponentChildren;
}

export function Report({ article, first, children }: Props) {
  const host = useRef<HTMLDivElement>(null);

  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const style = document.createElement('style');
    style.textContent = scoped(article.css);
    const body = document.createElement('div');
    body.innerHTML = article.html;
    const heading = [...body.querySelectorAll('h2')].find(heading => heading.textContent === first);
    const section = heading?.closest('section');
    const header = body.querySelector('header');
    if (section) header?.after(section);
    header?.after(document.createElement('slot'));
    for (const scroll of body.querySelectorAll('.scroll')) scroll.setAttribute('tabindex', '0');
    // What was opened stays so when the article is drawn anew.
    const open = new Set([...root.querySelectorAll('details[open] > summary')].map(summary => summary.textContent));
    for (const summary of body.querySelectorAll('details > summary')) {
      if (open.has(summary.textContent)) summary.parentElement?.setAttribute('open', '');
    }
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
  }, [article, first]);

  return (
    <div ref={host} class="report">
      {children}
    </div>
  );
}
