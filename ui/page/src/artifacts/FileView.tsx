import {
  type ArtifactContent,
  type ArtifactVersion,
  fileKind,
  imageType,
  languageOf,
} from "@parley/client";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Code } from "../text/Code.js";
import { Markdown } from "../text/Markdown.js";
import { Icon } from "../ui/Icon.js";

const PDF = [0x25, 0x50, 0x44, 0x46];

type FileContent = Extract<ArtifactContent, { type: "text" | "bytes" }>;

interface FileProps {
  readonly version: ArtifactVersion;
  readonly content: FileContent;
  readonly name: string;
}

/** A preview of a file. Nothing in it is executed: HTML is shown as source. */
export function FileView({ version, content, name }: FileProps) {
  const [source, setSource] = useState(false);
  const kind = fileKind(version);
  const text = content.type === "text" ? content.text : undefined;
  const both = text !== undefined && (kind === "markdown" || kind === "image");
  return (
    <>
      {both && (
        <div class="switch" role="group" aria-label="View">
          <button
            type="button"
            class="button small"
            aria-pressed={!source}
            onClick={() => setSource(false)}
          >
            Preview
          </button>
          <button
            type="button"
            class="button small"
            aria-pressed={source}
            onClick={() => setSource(true)}
          >
            Source
          </button>
        </div>
      )}
      {source && text !== undefined ? (
        <Code text={text} language={languageOf(version)} />
      ) : kind === "markdown" && text !== undefined ? (
        <div class="file-preview">
          <Markdown text={text} live={version.status === "building"} breaks={false} />
        </div>
      ) : kind === "image" ? (
        <Picture content={content} type={imageType(version) ?? ""} name={name} />
      ) : kind === "pdf" ? (
        <Pdf content={content} name={name} />
      ) : text !== undefined ? (
        <Code text={text} language={languageOf(version)} />
      ) : (
        <p class="muted">This file type cannot be displayed. Download it instead.</p>
      )}
    </>
  );
}

/** An SVG in an image element runs no script and loads nothing. */
function Picture({ content, type, name }: { content: FileContent; type: string; name: string }) {
  const [broken, setBroken] = useState(false);
  const url = useUrl(content, type);
  useEffect(() => setBroken(false), [url]);
  if (url === undefined) {
    return null;
  }
  return broken ? (
    <p class="muted">This image is incomplete or damaged. Download it instead.</p>
  ) : (
    <img class="picture" src={url} alt={name} onError={() => setBroken(true)} />
  );
}

/**
 * A PDF, shown by the browser's viewer on request, if the file really is a PDF: the viewer is
 * outside our control.
 */
function Pdf({ content, name }: { content: FileContent; name: string }) {
  const [open, setOpen] = useState(false);
  const bytes = useMemo(() => bytesOf(content), [content]);
  const genuine = PDF.every((byte, i) => bytes[i] === byte);
  const url = useUrl(genuine && open ? content : undefined, "application/pdf");
  if (!genuine) {
    return <p class="muted">This file is not a valid PDF. Download it instead.</p>;
  }
  return url === undefined ? (
    <p>
      <button type="button" class="button" onClick={() => setOpen(true)}>
        <Icon name="file" /> Open in the browser’s PDF viewer
      </button>
    </p>
  ) : (
    <iframe class="pdf" src={url} title={name} />
  );
}

/** An object URL for content, while it is shown. */
function useUrl(content: FileContent | undefined, type: string): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (content === undefined) {
      return undefined;
    }
    const made = URL.createObjectURL(new Blob([bytesOf(content)], { type }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [content, type]);
  return url;
}

function bytesOf(content: FileContent): Uint8Array<ArrayBuffer> {
  return content.type === "bytes" ? content.bytes : new TextEncoder().encode(content.text);
}
