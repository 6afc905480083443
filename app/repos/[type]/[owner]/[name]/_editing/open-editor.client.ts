import { LanguageDescription, syntaxHighlighting } from "@codemirror/language";
import { languages } from "@codemirror/language-data";
import { Compartment } from "@codemirror/state";
import { classHighlighter } from "@lezer/highlight";
import { basicSetup, EditorView } from "codemirror";
import "./editor.css";

/** The text field stays part of the form. Tab moves the focus on (WCAG 2.1.2). @returns a function that closes the editor */
export function openEditor(area: HTMLTextAreaElement): () => void {
  const { form } = area;
  const language = new Compartment();
  const before = { focus: document.activeElement === area, anchor: area.selectionStart, head: area.selectionEnd };
  const view = new EditorView({
    doc: area.value,
    selection: { anchor: before.anchor, head: before.head },
    extensions: [
      basicSetup,
      language.of([]),
      syntaxHighlighting(classHighlighter),
      // `tabindex` is only for accessibility checkers.
      EditorView.contentAttributes.of({ "aria-label": "Content", tabindex: "0" }),
      // Tells the form to remove the field's message.
      EditorView.updateListener.of(({ docChanged }) => docChanged && area.dispatchEvent(new Event("input", { bubbles: true }))),
    ],
  });
  area.before(view.dom);
  area.hidden = true;
  if (before.focus) view.focus();

  const fillIn = ({ formData }: FormDataEvent) => formData.set(area.name, view.state.doc.toString());
  const path = form?.querySelector<HTMLInputElement>("input[name=path]");
  const updateLanguage = async () => {
    const name = path?.value.split("/").at(-1) ?? "";
    const support = await LanguageDescription.matchFilename(languages, name)?.load();
    const wrapping = support?.language.name === "markdown" ? [EditorView.lineWrapping] : [];
    view.dispatch({ effects: language.reconfigure(support ? [support, wrapping] : []) });
  };
  form?.addEventListener("formdata", fillIn);
  path?.addEventListener("change", updateLanguage);
  void updateLanguage();
  return () => {
    form?.removeEventListener("formdata", fillIn);
    path?.removeEventListener("change", updateLanguage);
    area.value = view.state.doc.toString();
    area.hidden = false;
    view.destroy();
  };
}
