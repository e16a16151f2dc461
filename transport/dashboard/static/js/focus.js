// Where the focus goes when what had it has gone.

/** Give it to an element unless somebody has put it elsewhere meanwhile: a late frame takes no field from who types. */
export function giveFocus(element) {
  const now = document.activeElement;
  if (now === null || now === document.body) element?.focus();
}
