/** Whether a key goes into a field, or into the browser's own shortcuts. */
export function typing(event: KeyboardEvent): boolean {
  const element = event.target as HTMLElement;
  return event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName);
}
