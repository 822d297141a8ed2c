/** Elements of an XML file that are protected: of pom.xml, and of the projects of .NET. */
import { createPart, type Part } from './part.ts';
import { compactXml, readXml, type XmlElement } from './xml-text.ts';

/** All of an element below the root, what this rule says of the elements in it, or nothing. */
type ProtectedElement = (element: XmlElement, text: string) => boolean | ((inner: XmlElement) => boolean);

function xmlElements(name: string, protects: ProtectedElement): Part {
  return createPart({
    name,
    read(content) {
      const root = readXml(content);
      if (root === null) return null;
      const lines = root.children.flatMap((element) => linesOf(element, content, protects));
      return lines.join('\n');
    },
    merge(base, claim) {
      const [before, claimed] = [readXml(base), readXml(claim)];
      if (before === null || claimed === null) return null;
      const own = before.children.filter((element) => linesOf(element, base, protects).length > 0);
      const free = removed(claimed, claim, protects);
      const at = free.lastIndexOf(`</${claimed.name}`);
      if (at < 0) return null;
      const added = own.map((element) => `  ${base.slice(element.start, element.end)}\n`).join('');
      return `${free.slice(0, at)}${added}${free.slice(at)}`;
    },
  });
}

function linesOf(element: XmlElement, text: string, protects: ProtectedElement): string[] {
  const rule = protects(element, text);
  if (rule === false) return [];
  if (rule === true) return [compactXml(text.slice(element.start, element.end))];
  const inner = element.children.filter(rule).map(({ start, end }) => compactXml(text.slice(start, end)));
  // The opening tag may have a condition.
  return inner.length === 0 ? [] : [compactXml(text.slice(element.start, element.innerStart)), ...inner];
}

function removed(root: XmlElement, text: string, protects: ProtectedElement): string {
  const gone = root.children.filter((element) => linesOf(element, text, protects).length > 0).reverse();
  return gone.reduce((rest, { start, end }) => rest.slice(0, start) + rest.slice(end), text);
}

/** How the build runs, and properties that speak of tests. Versions and dependencies belong to the work. */
export const pomXml: Part = xmlElements('build, profiles and test properties', ({ name }) => {
  if (/^(?:build|profiles|reporting|pluginRepositories)$/.test(name)) return true;
  if (name !== 'properties') return false;
  return (property) => /test|skip|surefire|failsafe|argLine|jacoco|checkstyle|fail/i.test(property.name);
});

/** Packages and versions belong to the work. */
export const dotnetProject: Part = xmlElements('test and warning settings', ({ name, children }) => {
  if (name === 'PropertyGroup') {
    return (property) =>
      /test|warn|nullable|analy[sz]|runsettings|implicitusings|enabledefault|defineconstants|skip|style|coverlet/i.test(
        property.name,
      );
  }
  if (name !== 'ItemGroup') return true;
  // What is compiled, and what looks at it; references to packages are versions.
  return children.some((item) =>
    /^(?:Compile|Analyzer|Using|EditorConfigFiles|AdditionalFiles)$/.test(item.name),
  );
});
