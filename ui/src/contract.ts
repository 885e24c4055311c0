// What the server answers, apart from the record itself (`record.d.ts`, generated from its schema).

export interface About {
  version: string;
  store: string;
  writable: boolean;
  can_start: boolean;
  host: string;
  campaigns: number;
  runs: number;
}

/** Which runs are listed; those of published figures only with `published`, or by a search. */
export interface RunsAsked {
  search?: string;
  tag?: string;
  published?: boolean;
  limit: number;
}

export interface RunsListed {
  runs: RunRow[];
  /** How many match. */
  total: number;
  /** How many more match that hold published figures and are left out. */
  published: number;
}

export interface RunRow {
  id: string;
  number: number;
  started: string;
  plan: string;
  target: string;
  kind: 'real' | 'virtual';
  /** `done`, or how it ended. */
  state: string;
  /** What else is to be known of it: `3 warnings`. */
  remark?: string | null;
  grade: string | null;
  points: number;
  seconds: number | null;
  tags: Record<string, string>;
  campaign: string | null;
  headline: string | null;
}

export interface Article {
  title: string;
  answer: string;
  html: string;
  css: string;
}

export interface ComparedArticle extends Article {
  /** What the report calls each run, by its id. */
  labels: Record<string, string>;
  comparison: { notes?: string[] };
}

export interface CampaignRow {
  name: string;
  runs: number;
  /** Runs that count, of those that it has; as many as there are where that is not known. */
  runs_done: number;
  runs_planned: number | null;
  /** Runs that do not count: void, skipped, aborted. */
  lacking: number;
  started: string;
  latest: string;
}

export interface Cell {
  plan: string;
  levels: Record<string, string>;
  block: number;
  run: string | null;
  state: 'done' | 'void' | 'skipped' | 'aborted' | 'failed' | 'missing';
  figures: Record<string, { value: number; unit: string; place?: number }>;
  /** Why it does not count. */
  why?: string | null;
}

export interface Campaign extends Article {
  name: string;
  plans: string[];
  blocks: number;
  factors: { name: string; levels: string[] }[];
  cells: Cell[];
}

/** A mistake of a plan: at a place in its text, or of the target, which has none. */
export interface PlanError {
  line: number | null;
  column: number | null;
  length: number | null;
  message: string;
  help?: string | null;
  /** Where it is, if not in the text. */
  where?: string | null;
}

/** A campaign as it is asked for: a ready one, or a text. */
export interface CampaignAsked {
  campaign?: string | null;
  toml?: string | null;
  on?: string[] | string;
  set?: string[];
  repeats?: number | null;
  fraction?: number | null;
}

export type CampaignChecked =
  | (Extract<PlanChecked, { ok: true }> & { name: string; runs: number; left: number; real: boolean })
  | Extract<PlanChecked, { ok: false }>;

/** What is told whenever it changes: campaigns in the library, and what was started from here. */
export interface Campaigns {
  campaigns: CampaignRow[];
  jobs: Job[];
}

export type PlanChecked =
  | { ok: true; dry_run: string; refused?: string | null; barred?: string | null; cautions?: PlanError[] }
  | { ok: false; errors: PlanError[] };

export interface PlanKey {
  key: string;
  about: string;
  section?: string;
  takes?: string;
  example?: string;
  default?: string | null;
}

export interface Job {
  job: string;
  plan: string;
  on: string[];
  started: string;
  state: 'running' | 'done' | 'failed';
  code: number | null;
  run: string | null;
  stderr: string | null;
  /** The name of the campaign that it is, the request that started it, and what it says of how far it is. */
  campaign: string | null;
  request: CampaignAsked | null;
  says: string | null;
}

export interface Ended {
  code: number | null;
  run: string | null;
  stderr: string;
}

export type KnobGroup = 'workload' | 'host' | 'protocol' | 'links' | 'controllers' | 'raid' | 'disks';

export interface Knob {
  key: string;
  label: string;
  group: KnobGroup;
  kind: 'choice' | 'number' | 'text';
  values?: string[];
  min?: number;
  max?: number;
  step?: number;
  default?: string | number | null;
  source?: string | null;
}

export interface LabArray {
  array: string;
  about?: string;
  knobs: Knob[];
  published: PublishedLoad[];
}

/** A load of which figures are published: how the knobs are set for it, and which figures. */
export interface PublishedLoad {
  set: Record<string, string>;
  fail: number[];
  labels: string[];
}

export interface LabWorkload {
  pattern: string;
  size: string;
  reads: string;
  /** How much of each LUN is used. */
  span?: string;
}

export interface LabAsked {
  array: string;
  workload: LabWorkload;
  depths: number[];
  fail: number[];
  /** A quick look for a first drawing, or all of it. */
  effort?: 'quick' | 'full';
}

export interface LabPoint {
  depth: number;
  iops: number;
  mb_s: number;
  mean_us: number | null;
  p50_us: number | null;
  p99_us: number | null;
  low: number | null;
  high: number | null;
  /** Why there is no interval. */
  no_interval?: string;
  requests?: number;
}

export interface PublishedFigure {
  label: string;
  depth: number | null;
  iops: number | null;
  mb_s: number | null;
  latency_us: number | null;
  source: string;
  about?: string;
  fits?: string | null;
  kind: 'published' | 'measured';
}

export type SlotState = 'online' | 'failed' | 'spare' | 'rebuilding' | 'empty';

export interface Slot {
  slot: number;
  state: SlotState;
  device: string;
}

export interface LabAnswer {
  answer: string;
  reading: string;
  points: LabPoint[];
  knee: number | null;
  limit: { part: string; evidence: string } | null;
  breakdown: { depth: number; parts: { part: string; waiting_us: number; service_us: number }[] }[];
  published: PublishedFigure[];
  slots: Slot[];
  usable_bytes: number;
  effort?: 'quick' | 'full';
  warnings?: { code: string; sentence: string; depths: number[] }[];
  took_ms: number;
}

export interface RebuildPoint {
  at_s: number;
  percent: number;
  foreground_iops: number | null;
  foreground_p99_us: number | null;
}

interface Foreground {
  iops: number;
  p99_us: number | null;
}

export interface Rebuild {
  /** None where it does not get on beside the load. */
  seconds: number | null;
  points: RebuildPoint[];
  answer: string;
  healthy?: Foreground;
  degraded?: Foreground;
}

/** An array that `fathom serve` serves, as it is now. */
export interface Served {
  name: string;
  status: {
    name: string;
    array: string;
    is_volatile: boolean;
    is_write_protected: boolean;
    writes_refused: string | null;
    bays: {
      bay: number;
      serial: string;
      status: 'in-use' | 'spare' | 'unassigned' | 'failed' | 'empty' | 'foreign' | 'stale';
      bytes: number;
      slot: [number, number] | null;
    }[];
    sets: { set: number; level: string; state: string; bytes: number; slots: (number | null)[] }[];
    luns: number[];
    works: { kind: string; set: number; slot: number | null; done: number; left_s: number | null }[];
    /** What the last pass of each kind over each set has come to. */
    passes: {
      number: number;
      kind: string;
      set: number;
      slot: number | null;
      is_complete: boolean;
      corrected_sectors: number;
      unreadable_sectors: number;
      inconsistent_stripes: number;
      is_repaired: boolean;
    }[];
    cache: {
      bytes: number;
      dirty_bytes: number;
      is_write_back: boolean;
      has_battery: boolean;
      lost: { lun: number; offset: number; bytes: number }[];
    } | null;
    controllers: { controller: number; is_online: boolean }[];
    paths: { path: number; controller: number; is_up: boolean }[];
    owners: (number | null)[];
    firmware: string | null;
  };
  /** The last ones, the newest at the end. */
  events: { number: number; at_s: number; severity: 'information' | 'warning' | 'critical'; text: string }[];
}
