"use client";

import "./globals.css";
import ErrorPage, { type ErrorPageProps } from "./error.tsx";

/** When even the layout failed. It follows the system's theme: the cookie is the layout's to read. */
export default function GlobalErrorPage(props: ErrorPageProps) {
  return (
    <html lang="en">
      <body className="flex min-h-dvh flex-col">
        <title>Something went wrong</title>
        <ErrorPage {...props} />
      </body>
    </html>
  );
}
