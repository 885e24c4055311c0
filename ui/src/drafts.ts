// Campaigns as they were asked for, kept in this browser: what a campaign measured is in the library, its text is not.

import type { CampaignAsked } from './contract.ts';

const NEW = 'fathom-campaign-draft';
const OF = 'fathom-campaign: ';
const PLAN = 'fathom-plan: ';

/** How the campaign `name` was started here last. */
export function keptDraft(name: string): CampaignAsked | null {
  try {
    return JSON.parse(localStorage.getItem(OF + name) ?? 'null') as CampaignAsked | null;
  } catch {
    return null;
  }
}

export function keepDraft(name: string, asked: CampaignAsked): void {
  try {
    localStorage.setItem(OF + name, JSON.stringify(asked));
  } catch {
    // No room, or not allowed: it is asked for again.
  }
}

/** The text of a plan that is edited, kept in this tab: its address says only that there is one. */
export function keepPlan(name: string, toml: string | null): void {
  try {
    if (toml === null) sessionStorage.removeItem(PLAN + name);
    else sessionStorage.setItem(PLAN + name, toml);
  } catch {
    // No room, or not allowed: the text is lost with the page.
  }
}

export function keptPlan(name: string): string | null {
  return sessionStorage.getItem(PLAN + name);
}

/** A text for the editor, from another view of this tab. */
export function handDraft(toml: string): void {
  sessionStorage.setItem(NEW, toml);
}

export function draftOf(): string | null {
  return sessionStorage.getItem(NEW);
}
