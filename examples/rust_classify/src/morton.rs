// SPDX-License-Identifier: Apache-2.0
//! A thin layer over libmorton's interface for C: what fails is an `Error`, what is dropped is freed.
use std::ffi::{c_char, c_void, CStr, CString};
use std::fmt;
use std::ptr::{null, null_mut};

/// The functions that this example uses, as morton/morton.h declares them.
mod c {
    use super::{c_char, c_void};

    #[repr(C)]
    pub struct Port {
        pub size: usize,
        pub name: *const c_char,
        pub element_type: i32,
        pub is_tensor: i32,
        pub rank: usize,
        pub extents: *const i64,
        pub symbols: *const *const c_char,
        pub counts: *const *const c_char,
        pub bytes: usize,
    }

    #[repr(C)]
    pub struct Tensor {
        pub size: usize,
        pub name: *const c_char,
        pub element_type: i32,
        pub reserved: i32,
        pub rank: usize,
        pub extents: *const i64,
        pub data: *const c_void,
        pub bytes: usize,
    }

    /// All handles are pointers to what only the library knows.
    pub type Handle = *mut c_void;

    extern "C" {
        pub fn morton_last_error() -> *const c_char;
        pub fn morton_device_open(selector: *const c_char, options: *const c_void, device: *mut Handle) -> i32;
        pub fn morton_device_free(device: Handle);
        pub fn morton_model_load(path: *const c_char, model: *mut Handle) -> i32;
        pub fn morton_model_free(model: Handle);
        pub fn morton_compile(model: Handle, device: Handle, options: *const c_void, compiled: *mut Handle) -> i32;
        pub fn morton_compiled_free(compiled: Handle);
        pub fn morton_compiled_input(compiled: Handle, index: usize, port: *mut Port) -> i32;
        pub fn morton_compiled_output(compiled: Handle, index: usize, port: *mut Port) -> i32;
        pub fn morton_tensors_read(path: *const c_char, tensors: *mut Handle) -> i32;
        pub fn morton_tensors_free(tensors: Handle);
        pub fn morton_tensors_at(tensors: Handle, index: usize, tensor: *mut Tensor) -> i32;
        pub fn morton_image_to_input(image: *const Tensor, extents: *const i64, rank: usize, to: *mut f32, bytes: usize) -> i32;
        pub fn morton_session_create(compiled: Handle, options: *const c_void, session: *mut Handle) -> i32;
        pub fn morton_session_free(session: Handle);
        pub fn morton_session_set_input(session: Handle, name: *const c_char, data: *const c_void, bytes: usize) -> i32;
        pub fn morton_session_run(session: Handle) -> i32;
        pub fn morton_session_get_output(session: Handle, name: *const c_char, data: *mut c_void, bytes: usize) -> i32;
    }
}

/// What the library says of a call that failed.
#[derive(Debug)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        to.write_str(&self.0)
    }
}

fn check(status: i32) -> Result<(), Error> {
    if status == 0 {
        return Ok(());
    }
    // The text is this thread's until its next error.
    let text = unsafe { CStr::from_ptr(c::morton_last_error()) };
    Err(Error(text.to_string_lossy().into_owned()))
}

fn text(words: &str) -> Result<CString, Error> {
    CString::new(words).map_err(|_| Error(format!("{words:?} holds a zero byte")))
}

/// A type that owns a handle, and frees it when it is dropped.
macro_rules! owner {
    ($name:ident, $free:ident) => {
        pub struct $name(c::Handle);

        impl Drop for $name {
            fn drop(&mut self) {
                unsafe { c::$free(self.0) }
            }
        }
    };
}
owner!(Device, morton_device_free);
owner!(Model, morton_model_free);
owner!(Compiled, morton_compiled_free);
owner!(Image, morton_tensors_free);
owner!(Session, morton_session_free);

/// An input or output of f32.
pub struct Port {
    pub name: String,
    pub extents: Vec<i64>,
}

impl Port {
    pub fn elements(&self) -> usize {
        self.extents.iter().product::<i64>() as usize
    }
}

impl Device {
    pub fn open(selector: &str) -> Result<Device, Error> {
        let (selector, mut handle) = (text(selector)?, null_mut());
        check(unsafe { c::morton_device_open(selector.as_ptr(), null(), &mut handle) })?;
        Ok(Device(handle))
    }
}

impl Model {
    pub fn load(path: &str) -> Result<Model, Error> {
        let (path, mut handle) = (text(path)?, null_mut());
        check(unsafe { c::morton_model_load(path.as_ptr(), &mut handle) })?;
        Ok(Model(handle))
    }
}

type PortOf = unsafe extern "C" fn(c::Handle, usize, *mut c::Port) -> i32;

impl Compiled {
    pub fn new(model: &Model, device: &Device) -> Result<Compiled, Error> {
        let mut handle = null_mut();
        check(unsafe { c::morton_compile(model.0, device.0, null(), &mut handle) })?;
        Ok(Compiled(handle))
    }

    pub fn input(&self, index: usize) -> Result<Port, Error> {
        self.port(c::morton_compiled_input, index)
    }

    pub fn output(&self, index: usize) -> Result<Port, Error> {
        self.port(c::morton_compiled_output, index)
    }

    fn port(&self, ask: PortOf, index: usize) -> Result<Port, Error> {
        // A struct that the library fills begins with its size; the rest may be zero.
        let mut port: c::Port = unsafe { std::mem::zeroed() };
        port.size = std::mem::size_of::<c::Port>();
        check(unsafe { ask(self.0, index, &mut port) })?;
        if port.element_type != 0 || port.is_tensor != 1 {
            return Err(Error("this example takes tensors of f32".to_string()));
        }
        unsafe {
            Ok(Port {
                name: CStr::from_ptr(port.name).to_string_lossy().into_owned(),
                extents: (0..port.rank).map(|i| *port.extents.add(i)).collect(),
            })
        }
    }
}

impl Image {
    pub fn read(path: &str) -> Result<Image, Error> {
        let (path, mut handle) = (text(path)?, null_mut());
        check(unsafe { c::morton_tensors_read(path.as_ptr(), &mut handle) })?;
        Ok(Image(handle))
    }

    pub fn to_input(&self, extents: &[i64]) -> Result<Vec<f32>, Error> {
        let mut pixels: c::Tensor = unsafe { std::mem::zeroed() };
        pixels.size = std::mem::size_of::<c::Tensor>();
        check(unsafe { c::morton_tensors_at(self.0, 0, &mut pixels) })?;
        let mut input = vec![0.0; extents.iter().product::<i64>() as usize];
        let bytes = std::mem::size_of_val(&input[..]);
        let to = input.as_mut_ptr();
        check(unsafe { c::morton_image_to_input(&pixels, extents.as_ptr(), extents.len(), to, bytes) })?;
        Ok(input)
    }
}

impl Session {
    pub fn new(compiled: &Compiled) -> Result<Session, Error> {
        let mut handle = null_mut();
        check(unsafe { c::morton_session_create(compiled.0, null(), &mut handle) })?;
        Ok(Session(handle))
    }

    pub fn set_input(&mut self, name: &str, values: &[f32]) -> Result<(), Error> {
        let (name, bytes) = (text(name)?, std::mem::size_of_val(values));
        check(unsafe { c::morton_session_set_input(self.0, name.as_ptr(), values.as_ptr().cast(), bytes) })
    }

    pub fn run(&mut self) -> Result<(), Error> {
        check(unsafe { c::morton_session_run(self.0) })
    }

    pub fn output(&mut self, name: &str, elements: usize) -> Result<Vec<f32>, Error> {
        let mut values = vec![0.0f32; elements];
        let (name, bytes) = (text(name)?, std::mem::size_of_val(&values[..]));
        check(unsafe { c::morton_session_get_output(self.0, name.as_ptr(), values.as_mut_ptr().cast(), bytes) })?;
        Ok(values)
    }
}
