// A chart. The library is fetched when the first chart is drawn; the place for it is there before.

import type { EChartsCoreOption, EChartsType } from 'echarts/core';
import { useEffect, useRef, useState } from 'preact/hooks';

/** The colours of the present theme, from the stylesheet. */
export interface Palette {
  ink: string;
  faint: string;
  line: string;
  paper: string;
  limit: string;
  accent: string;
  hues: string[];
}

const dark = matchMedia('(prefers-color-scheme: dark)');

export function palette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: of('ink'),
    faint: of('faint'),
    line: of('line'),
    paper: of('paper'),
    limit: of('limit'),
    accent: of('accent'),
    hues: [0, 1, 2, 3, 4, 5].map(hue => of(`hue-${hue}`)),
  };
}

/** Whether the theme is dark, and again when it changes. */
export function useTheme(): boolean {
  const [now, set] = useState(dark.matches);
  useEffect(() => {
    const changed = () => set(dark.matches);
    dark.addEventListener('change', changed);
    return () => dark.removeEventListener('change', changed);
  }, []);
  return now;
}

export type Draw = (colours: Palette, width: number) => EChartsCoreOption;

interface Props {
  /** Draws it for a palette and a width in pixels. */
  draw: Draw;
  height: number;
  /** What it shows, for those who do not see it. */
  label: string;
}

export function EChart({ draw, height, label }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<EChartsType | null>(null);
  const latest = useRef(draw);
  latest.current = draw;
  const theme = useTheme();

  function redraw(): void {
    const width = place.current?.clientWidth ?? 0;
    if (!chart.current || width === 0) return;
    const colours = palette();
    chart.current.setOption(
      {
        animation: false,
        textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, fontSize: 12, color: colours.ink },
        ...latest.current(colours, width),
      },
      { notMerge: true },
    );
  }

  useEffect(() => {
    let gone = false;
    let sized: ResizeObserver | null = null;
    void import('./echarts.ts').then(({ start }) => {
      if (gone || !place.current) return;
      chart.current = start(place.current);
      redraw();
      sized = new ResizeObserver(() => {
        chart.current?.resize();
        redraw();
      });
      sized.observe(place.current);
    });
    return () => {
      gone = true;
      sized?.disconnect();
      chart.current?.dispose();
      chart.current = null;
    };
    // Drawn once, and again below
  }, []);
  // The theme is in the stylesheet
  useEffect(redraw, [draw, theme]);

  return <div ref={place} class="chart" role="img" aria-label={label} style={{ height: `${height}px` }} />;
}
