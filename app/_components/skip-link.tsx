/** The first stop of the Tab key: past the navigation, to the page's `<main id="main">`. */
export function SkipLink() {
  return (
    <a
      href="#main"
      className="-translate-y-16 fixed top-2 left-2 z-10 rounded-control border border-line bg-surface px-3 py-2 text-small shadow-menu focus:translate-y-0"
    >
      Skip to the content
    </a>
  );
}
