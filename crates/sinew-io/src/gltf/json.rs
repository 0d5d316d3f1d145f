//! JSON values that know where in the file they stand, so that every error gives its location.

use serde_json::Value;

use sinew::error::Invalid;

/// A value and its location, such as `accessors[3].bufferView`.
#[derive(Clone, Debug)]
pub(crate) struct Json<'a> {
    value: &'a Value,
    at: String,
}

impl<'a> Json<'a> {
    /// The whole document.
    pub(crate) fn root(value: &'a Value) -> Self {
        Self {
            value,
            at: String::new(),
        }
    }

    /// A value found in some other way than from the root down.
    pub(crate) fn located(value: &'a Value, at: impl Into<String>) -> Self {
        Self {
            value,
            at: at.into(),
        }
    }

    /// The location; `the document` for the root.
    pub(crate) fn at(&self) -> &str {
        if self.at.is_empty() {
            "the document"
        } else {
            &self.at
        }
    }

    pub(crate) fn value(&self) -> &'a Value {
        self.value
    }

    /// The location of a member, whether it is there or not.
    pub(crate) fn at_key(&self, key: &str) -> String {
        if self.at.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.at)
        }
    }

    /// The location of a member that the file names, in brackets where its name is no plain word.
    pub(crate) fn at_member(&self, name: &str) -> String {
        let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        if !name.is_empty() && name.chars().all(plain) {
            return self.at_key(name);
        }
        format!("{}[{}]", self.at, Value::from(name))
    }

    /// A member of this object; `None` where it is absent or null.
    pub(crate) fn get(&self, key: &str) -> Result<Option<Json<'a>>, Invalid> {
        let Value::Object(members) = self.value else {
            return Err(self.wrong("an object"));
        };
        Ok(members.get(key).filter(|v| !v.is_null()).map(|value| Json {
            value,
            at: self.at_key(key),
        }))
    }

    /// A member that has to be there.
    pub(crate) fn need(&self, key: &str) -> Result<Json<'a>, Invalid> {
        self.get(key)?
            .ok_or_else(|| Invalid::new(self.at_key(key), "", "a value", "nothing"))
    }

    /// `extensions.NAME` of this object.
    pub(crate) fn extension(&self, name: &str) -> Result<Option<Json<'a>>, Invalid> {
        match self.get("extensions")? {
            Some(extensions) => extensions.get(name),
            None => Ok(None),
        }
    }

    /// `extras` of this object: data of the application that wrote the file.
    pub(crate) fn extras(&self) -> Result<Option<Value>, Invalid> {
        Ok(self.get("extras")?.map(|extras| extras.value.clone()))
    }

    /// The members of this object in the order of their names.
    pub(crate) fn members(&self) -> Result<Vec<(&'a str, Json<'a>)>, Invalid> {
        let Value::Object(members) = self.value else {
            return Err(self.wrong("an object"));
        };
        let member = |(key, value): (&'a String, &'a Value)| {
            let at = self.at_member(key);
            (key.as_str(), Json { value, at })
        };
        Ok(members.iter().map(member).collect())
    }

    /// The elements of this array.
    pub(crate) fn elements(
        &self,
    ) -> Result<impl ExactSizeIterator<Item = Json<'a>> + use<'a>, Invalid> {
        let Value::Array(elements) = self.value else {
            return Err(self.wrong("an array"));
        };
        let at = self.at.clone();
        Ok(elements.iter().enumerate().map(move |(i, value)| Json {
            value,
            at: format!("{at}[{i}]"),
        }))
    }

    /// The elements of an array member; none where it is absent.
    pub(crate) fn list(&self, key: &str) -> Result<Vec<Json<'a>>, Invalid> {
        match self.get(key)? {
            Some(array) => Ok(array.elements()?.collect()),
            None => Ok(Vec::new()),
        }
    }

    /// How many elements an array member has; 0 where it is absent.
    pub(crate) fn count(&self, key: &str) -> Result<usize, Invalid> {
        match self.get(key)? {
            Some(array) => Ok(array.elements()?.len()),
            None => Ok(0),
        }
    }

    pub(crate) fn string(&self) -> Result<&'a str, Invalid> {
        self.value.as_str().ok_or_else(|| self.wrong("a string"))
    }

    pub(crate) fn boolean(&self) -> Result<bool, Invalid> {
        self.value
            .as_bool()
            .ok_or_else(|| self.wrong("true or false"))
    }

    /// A finite number.
    pub(crate) fn number(&self) -> Result<f64, Invalid> {
        self.value
            .as_f64()
            .filter(|n| n.is_finite())
            .ok_or_else(|| self.wrong("a number"))
    }

    /// A whole number from 0 up. `5.0` is one too, as JSON has it.
    pub(crate) fn integer(&self) -> Result<usize, Invalid> {
        let whole = self.value.as_u64().or_else(|| {
            let number = self.value.as_f64()?;
            // Beyond 2^53 a double no longer tells one integer from the next.
            let exact = (0.0..9e15).contains(&number) && number.fract() == 0.0;
            exact.then_some(number as u64)
        });
        whole
            .and_then(|n| usize::try_from(n).ok())
            .ok_or_else(|| self.wrong("a whole number from 0 up"))
    }

    /// An index into something that has `count` elements, such as `a node`.
    pub(crate) fn index(&self, what: &str, count: usize) -> Result<usize, Invalid> {
        let index = self.integer()?;
        if index < count {
            return Ok(index);
        }
        Err(self.error(format!("{what} below {count}"), index.to_string()))
    }

    /// An array of exactly that many numbers.
    pub(crate) fn numbers<const N: usize>(&self) -> Result<[f64; N], Invalid> {
        let wrong = || self.wrong(&format!("{N} numbers"));
        let Value::Array(elements) = self.value else {
            return Err(wrong());
        };
        if elements.len() != N {
            return Err(wrong());
        }
        let mut out = [0.0; N];
        for (number, element) in out.iter_mut().zip(self.elements()?) {
            *number = element.number()?;
        }
        Ok(out)
    }

    /// A member as a string; empty where it is absent.
    pub(crate) fn text(&self, key: &str) -> Result<String, Invalid> {
        match self.get(key)? {
            Some(text) => Ok(text.string()?.to_owned()),
            None => Ok(String::new()),
        }
    }

    pub(crate) fn integer_or(&self, key: &str, default: usize) -> Result<usize, Invalid> {
        self.get(key)?.map_or(Ok(default), |v| v.integer())
    }

    pub(crate) fn number_or(&self, key: &str, default: f64) -> Result<f64, Invalid> {
        self.get(key)?.map_or(Ok(default), |v| v.number())
    }

    pub(crate) fn boolean_or(&self, key: &str, default: bool) -> Result<bool, Invalid> {
        self.get(key)?.map_or(Ok(default), |v| v.boolean())
    }

    pub(crate) fn numbers_or<const N: usize>(
        &self,
        key: &str,
        default: [f64; N],
    ) -> Result<[f64; N], Invalid> {
        self.get(key)?.map_or(Ok(default), |v| v.numbers())
    }

    /// This value is not what it should be.
    pub(crate) fn error(&self, expected: impl Into<String>, found: impl Into<String>) -> Invalid {
        Invalid::new(self.at(), "", expected, found)
    }

    /// This value is of the wrong kind.
    pub(crate) fn wrong(&self, expected: &str) -> Invalid {
        self.error(expected, describe(self.value))
    }
}

/// A value in few words.
pub(super) fn describe(value: &Value) -> String {
    match value {
        Value::Array(elements) => format!("an array of {}", elements.len()),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => {
            let short: String = text.chars().take(60).collect();
            let dots = if short.len() < text.len() { "..." } else { "" };
            format!("'{short}{dots}'")
        }
        other => other.to_string(),
    }
}
