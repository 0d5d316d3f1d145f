"""Writes schemas.usda: the types, API schemas, properties and fallbacks of usd-core's schema registry.

    python make_tables.py > schemas.usda

Each schema is a class with the properties in which it differs from the type that it derives from. Its customData says:
`base` the type it derives from, `kind` (`concrete`, `abstract`, `single` or `multiple` apply), `apis` the API schemas
that it brings with it, `without` the base's properties that it lacks. Documentation is left out.
"""
import sys

from pxr import Sdf, Tf, Usd

KINDS = {
    "ConcreteTyped": "concrete",
    "AbstractTyped": "abstract",
    "AbstractBase": "abstract",
    "SingleApplyAPI": "single",
    "MultipleApplyAPI": "multiple",
}
LEFT_OUT = ("documentation", "comment", "displayGroup", "displayName", "customData")


def kind_of(info):
    return KINDS.get(str(info.kind).split(".")[-1])


class Tables:
    def __init__(self):
        self.registry = Usd.SchemaRegistry()
        self.layer = Sdf.Layer.CreateAnonymous(".usda")
        self.done = {}
        self.infos = {}
        todo = [Tf.Type.FindByName("UsdSchemaBase")]
        while todo:
            tf_type = todo.pop()
            todo.extend(tf_type.derivedTypes)
            info = self.registry.FindSchemaInfo(tf_type)
            if info and kind_of(info):
                self.infos[info.identifier] = info

    def definition(self, info):
        find = {
            "concrete": self.registry.FindConcretePrimDefinition,
            "abstract": self.registry.FindAbstractPrimDefinition,
        }.get(kind_of(info), self.registry.FindAppliedAPIPrimDefinition)
        return find(info.identifier)

    def base(self, info):
        if kind_of(info) not in ("concrete", "abstract"):
            return None
        for tf_type in info.type.baseTypes:
            candidate = self.registry.FindSchemaInfo(tf_type)
            if candidate and candidate.identifier in self.infos:
                return candidate
        return None

    def emit(self, info):
        """Makes a schema's class, after that of its base; gives the fields of all its properties."""
        name = info.identifier
        if name in self.done:
            return self.done[name]
        base = self.base(info)
        inherited = self.emit(base) if base else {}
        prim = Sdf.CreatePrimInLayer(self.layer, Sdf.Path.absoluteRootPath.AppendChild(name))
        prim.specifier = Sdf.SpecifierClass
        data = {"kind": kind_of(info)}
        if base:
            data["base"] = base.identifier
        defined = self.definition(info)
        properties = {}
        if defined:
            apis = [api for api in defined.GetAppliedAPISchemas() if api.split(":")[0] != name]
            if apis:
                data["apis"] = " ".join(apis)
            for prop in defined.GetPropertyNames():
                source = defined.GetSchemaPropertySpec(prop)
                path = prim.path.AppendProperty(prop)
                Sdf.CopySpec(source.layer, source.path, self.layer, path)
                spec = self.layer.GetPropertyAtPath(path)
                for field in LEFT_OUT:
                    spec.ClearInfo(field)
                fields = {key: str(spec.GetInfo(key)) for key in spec.ListInfoKeys()}
                properties[prop] = (type(spec).__name__, fields)
                if inherited.get(prop) == properties[prop]:
                    prim.RemoveProperty(spec)
            lacking = sorted(set(inherited) - set(properties))
            if lacking:
                data["without"] = " ".join(lacking)
        prim.customData = data
        self.done[name] = properties
        return properties

    def text(self):
        for name in sorted(self.infos):
            self.emit(self.infos[name])
        ordered = Sdf.Layer.CreateAnonymous(".usda")
        version = ".".join(str(part) for part in Usd.GetVersion()[1:])
        ordered.documentation = "Schemas of usd-core %s. Written by make_tables.py." % version
        for name in sorted(self.infos):
            Sdf.CopySpec(self.layer, "/" + name, ordered, "/" + name)
        return ordered.ExportToString()


if __name__ == "__main__":
    sys.stdout.write(Tables().text())
