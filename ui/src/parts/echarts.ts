// The parts of Apache ECharts that the page uses; a chunk of its own.

import { CustomChart, LineChart, ScatterChart } from 'echarts/charts';
import {
  AxisPointerComponent,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TooltipComponent,
} from 'echarts/components';
import { type EChartsType, init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';

use([
  LineChart,
  ScatterChart,
  CustomChart,
  GridComponent,
  TooltipComponent,
  AxisPointerComponent,
  MarkLineComponent,
  LegendComponent,
  SVGRenderer,
]);

export function start(place: HTMLElement): EChartsType {
  return init(place, null, { renderer: 'svg' });
}
