// Package descriptors holds the contracts with their comments, which the generated
// Go code leaves out, so that reflection can tell them.
package descriptors

import (
	_ "embed"
	"fmt"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// encoded is a FileDescriptorSet of the contracts, each after those it imports.
//
//go:embed waybook.binpb
var encoded []byte

// Resolver finds the descriptors of the contracts, comments included, and every other
// one in the global registry. The contracts are decoded when they are first asked for.
// It may be used concurrently. The zero value is ready.
type Resolver struct {
	once      sync.Once
	contracts protoregistry.Files
	err       error
}

// FindFileByPath finds a file by its path, such as "waybook/album/v1/album.proto".
func (r *Resolver) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	if err := r.decode(); err != nil {
		return nil, err
	}
	return layered{&r.contracts}.FindFileByPath(path)
}

// FindDescriptorByName finds whatever has a full name.
func (r *Resolver) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	if err := r.decode(); err != nil {
		return nil, err
	}
	return layered{&r.contracts}.FindDescriptorByName(name)
}

func (r *Resolver) decode() error {
	r.once.Do(func() { r.err = register(&r.contracts) })
	return r.err
}

func register(files *protoregistry.Files) error {
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(encoded, &set); err != nil {
		return fmt.Errorf("contracts: %w", err)
	}
	for _, each := range set.GetFile() {
		file, err := protodesc.NewFile(each, layered{files})
		if err != nil {
			return fmt.Errorf("contracts: %w", err)
		}
		if err := files.RegisterFile(file); err != nil {
			return fmt.Errorf("contracts: %w", err)
		}
	}
	return nil
}

// layered finds in files first, and then in the global registry.
type layered struct{ files *protoregistry.Files }

func (l layered) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	if file, err := l.files.FindFileByPath(path); err == nil {
		return file, nil
	}
	return protoregistry.GlobalFiles.FindFileByPath(path)
}

func (l layered) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	if found, err := l.files.FindDescriptorByName(name); err == nil {
		return found, nil
	}
	return protoregistry.GlobalFiles.FindDescriptorByName(name)
}
