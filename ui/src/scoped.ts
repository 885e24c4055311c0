// The stylesheet of a report, for a shadow root.

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
figure,header,dl,pre{max-width:50rem}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}`;
}
