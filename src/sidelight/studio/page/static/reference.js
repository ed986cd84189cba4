// A page about the JSON interface, made from its OpenAPI description; nothing is loaded from elsewhere.

import { el, replace } from "./dom.js";

const description = await (await fetch("/openapi.json")).json();

function typeOf(schema) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.type === "array") return `list of ${typeOf(schema.items) || "values"}`;
  return schema.type ?? "";
}

function operation(path, method, one) {
  const body = one.requestBody?.content["application/json"]?.schema;
  const answer = one.responses["200"]?.content;
  const kind = answer?.["application/json"] ? typeOf(answer["application/json"].schema) : Object.keys(answer ?? {}).join(", ");
  return el("article", { class: "card operation" }, el("h3", {}, el("span", { class: `method ${method}` }, method.toUpperCase()), " ", el("code", {}, path)),
    el("p", {}, one.description ?? one.summary ?? ""),
    one.parameters?.length ? el("ul", {}, one.parameters.map((parameter) => el("li", {}, el("code", {}, parameter.name), ` (${parameter.in}) ${typeOf(parameter.schema)}`))) : null,
    el("p", { class: "hint" }, body ? `takes ${typeOf(body)}, ` : "", `answers ${kind}`));
}

function schema(name, one) {
  return el("article", { class: "card operation", id: name }, el("h3", {}, el("code", {}, name)), el("p", {}, one.description ?? ""),
    el("ul", {}, Object.entries(one.properties ?? {}).map(([property, value]) => el("li", {}, el("code", {}, property), ` ${typeOf(value)}`, one.required?.includes(property) ? "" : ", optional"))));
}

const operations = Object.entries(description.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, one]) => operation(path, method, one)));
replace(document.getElementById("main"), el("p", {}, description.info.description), el("h2", {}, "Requests"), ...operations,
  el("h2", {}, "Objects"), ...Object.entries(description.components.schemas).map(([name, one]) => schema(name, one)));
